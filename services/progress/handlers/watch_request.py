"""WatchRequest: everything a request's generations said, and say from now on."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from services.progress.deps import Deps
from services.progress.rules.feed import Event


async def watch_request(request_id: str, deps: Deps) -> AsyncGenerator[Event, None]:
    """Events until the caller goes away. Raises LiveUnavailable when Redis is away at the start."""
    with deps.watching.watch(request_id) as watch:
        async with aclosing(watch.events()) as events:
            async for event in events:
                yield event
