"""One system for all tests that leave it whole, and a maker of systems for those that don't."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from horde.cli.stack.environment import SERVICES
from tests.servers import Servers
from tests.system.services import Services


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here takes whole processes, so it gets more time than a test of one thing."""
    for item in items:
        if "tests/system" in str(item.path) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(180))


@pytest.fixture(scope="session")
def new_services(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Services]]:
    """Makes a system of its own: `new_services(HORDE_X="…")`, started."""
    made: list[Services] = []

    def make(*started: str, **settings: str) -> Services:
        folder: Path = tmp_path_factory.mktemp("services")
        services = Services(folder, servers.new_database(), servers.redis_url(), servers.object_store(), settings)
        made.append(services)
        services.start(*(started or SERVICES))
        return services

    yield make
    for services in made:
        services.stop()


@pytest.fixture(scope="session")
def services(new_services: Callable[..., Services]) -> Services:
    """The system that most tests share."""
    return new_services(HORDE_CLEANUP_INTERVAL_SECONDS="1")
