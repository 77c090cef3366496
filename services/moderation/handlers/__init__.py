"""One file for each RPC of moderation, and what every handler is given."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from horde.clock import Clock
from horde.store import Store
from services.moderation.events import Events
from services.moderation.freshness import Fresh
from services.moderation.live import Addresses
from services.moderation.patterns import FilterSet
from services.moderation.repo import Modes
from services.moderation.settings import ModerationServiceSettings


@dataclass(frozen=True, slots=True)
class Deps:
    """What handlers work with."""

    store: Store
    addresses: Addresses
    filters: Fresh[FilterSet]
    has_filters: Fresh[bool]
    modes: Fresh[Modes]
    events: Events
    clock: Clock
    settings: ModerationServiceSettings
    background: set[asyncio.Task[Any]] = field(default_factory=set)

    def keep_going(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs work that has to end even when its caller has gone; the process waits for it before it leaves."""
        task = asyncio.create_task(work)
        self.background.add(task)
        task.add_done_callback(self.background.discard)
        return task

    async def settle(self) -> None:
        """Waits for everything that was to keep going."""
        await asyncio.gather(*self.background, return_exceptions=True)
