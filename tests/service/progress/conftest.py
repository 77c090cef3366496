"""The progress service that each test of this folder gets."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.progress_service import Progress, serving


@pytest.fixture
async def progress(redis_url: str) -> AsyncIterator[Progress]:
    """A progress service of this test's own."""
    async with serving(redis_url) as service:
        yield service
