"""The admission service that each test of this folder gets."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.admission_world import AdmissionWorld, admission_world
from tests.servers import Database


@pytest.fixture
async def world(database: Database) -> AsyncIterator[AdmissionWorld]:
    """An admission service of this test's own."""
    async with admission_world(database) as made:
        yield made
