"""Work whose time grows with a body: a small one is done where it arrives, a big one beside the event loop."""

import asyncio
from collections.abc import Callable

BIG_BYTES = 256 * 1024
"""From here on reading a body takes more than a few milliseconds, which every other call would wait for."""


async def heavy[T](work: Callable[[bytes], T], body: bytes) -> T:
    """What `work` makes of the body. Raises what it raises."""
    if len(body) <= BIG_BYTES:
        return work(body)
    return await asyncio.to_thread(work, body)
