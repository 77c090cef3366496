"""The real gateway on a real port, before services that answer what a test wants."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.running_gateway import Gateway, running


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    """A gateway without limits."""
    async with running() as made:
        yield made
