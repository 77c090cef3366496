"""One system for all tests that leave it whole, and a maker of systems for those that don't."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from horde.cli.stack.environment import SERVICES
from tests.servers import Servers
from tests.system.browsing import QUIET
from tests.system.services import Services


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here takes whole processes, so it gets more time than a test of one thing."""
    for item in items:
        if "tests/system" in str(item.path) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(180))


@contextmanager
def _making(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Services]]:
    """A maker of systems, which end with the block."""
    made: list[Services] = []

    def make(**settings: str) -> Services:
        folder: Path = tmp_path_factory.mktemp("services")
        services = Services(folder, servers.new_database(), servers.redis_url(), servers.object_store(), settings)
        made.append(services)
        return services

    try:
        yield make
    finally:
        for services in made:
            services.stop()


@pytest.fixture(scope="module")
def unstarted_services(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Services]]:
    """Makes a system of its own: `unstarted_services(HORDE_X="…")`; the test starts it. It ends with the module."""
    with _making(servers, tmp_path_factory) as make:
        yield make


@pytest.fixture(scope="module")
def new_services(unstarted_services: Callable[..., Services]) -> Callable[..., Services]:
    """Makes a system of its own: `new_services(HORDE_X="…")`, started."""

    def make(*started: str, **settings: str) -> Services:
        services = unstarted_services(**settings)
        services.start(*(started or SERVICES))
        return services

    return make


@pytest.fixture(scope="module")
def browser(system_tool: Callable[[str], Path]) -> Iterator[Browser]:
    """A Chromium that shows nothing to anybody."""
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=str(system_tool("chromium")), args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def services(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """The system that most tests share."""
    with _making(servers, tmp_path_factory) as make:
        shared = make(HORDE_CLEANUP_INTERVAL_SECONDS="1")
        shared.start(*SERVICES)
        yield shared
