"""Waiting in a test for what has to become true."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def until(is_so: Callable[[], bool | Awaitable[bool]], seconds: float = 10) -> None:
    """Returns as soon as it is so; fails when it is not within so many seconds."""
    ends_at = time.monotonic() + seconds
    while True:
        found = is_so()
        if found if isinstance(found, bool) else await found:
            return
        assert time.monotonic() < ends_at, "waited in vain"
        await asyncio.sleep(0.005)
