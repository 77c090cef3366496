"""What every handler is given."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from horde.clock import Clock
from services.media.blobs import Blobs
from services.media.decoding import Decoders
from services.media.events import Events
from services.media.fetching import PublicFetcher
from services.media.live import DeleteQueue


@dataclass(frozen=True, slots=True)
class Deps:
    """What handlers work with."""

    blobs: Blobs
    decoders: Decoders
    fetcher: PublicFetcher
    queue: DeleteQueue
    events: Events
    clock: Clock
    offloads: asyncio.Semaphore
    """How many messages objects, of up to 36 MB each, may be in the making."""
    gzips_messages: bool = False
    background: set[asyncio.Task[Any]] = field(default_factory=set)
    newest: dict[str, object] = field(default_factory=dict)
    """The newest call that stores objects from each first key on; an older one no longer owns these keys."""

    def keep_going(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs work that has to end even when its caller has gone; the process waits for it before it leaves."""
        task = asyncio.create_task(work)
        self.background.add(task)
        task.add_done_callback(self.background.discard)
        return task

    async def settle(self) -> None:
        """Waits for everything that was to keep going."""
        while self.background:
            await asyncio.gather(*self.background, return_exceptions=True)
