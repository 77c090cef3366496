"""The dispatch service that each test of this folder gets."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.dispatch_pops import Pops, popping
from tests.fakes.dispatch_service import Dispatch, serving
from tests.servers import Database


@pytest.fixture
async def dispatch(database: Database) -> AsyncIterator[Dispatch]:
    """A dispatch service of this test's own."""
    async with serving(database) as service:
        yield service


@pytest.fixture
async def pops(database: Database) -> AsyncIterator[Pops]:
    """A dispatch service of this test's own, as workers see it."""
    async with popping(database) as service:
        yield service
