"""What every handler is given."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from horde.clock import Clock
from horde.live import Live
from horde.store import Store
from services.moderation import repo
from services.moderation.events import Events
from services.moderation.evidence_store import EvidenceStore
from services.moderation.freshness import Fresh
from services.moderation.links import EvidenceLinks, NoLinks
from services.moderation.live import Addresses
from services.moderation.mutes import Mutes
from services.moderation.neighbours import Discord
from services.moderation.patterns import FilterSet
from services.moderation.rules.modes import Modes
from services.moderation.settings import ModerationServiceSettings

_A_MOMENT = timedelta(seconds=1)
"""A moderator who switches a mode sees it hold everywhere within the second."""

_STALE_READINGS = 2
"""The loop reads once per interval; only when it has missed one does a call read for itself."""


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
    discord: Discord
    paused_discord: Discord
    mutes: Mutes
    evidence: EvidenceStore
    links: EvidenceLinks = field(default_factory=NoLinks)
    background: set[asyncio.Task[Any]] = field(default_factory=set)

    async def reread_filters(self) -> None:
        """After a filter was written: this process judges by it at once, other replicas within their interval."""
        await self.filters.refresh()
        await self.has_filters.refresh()

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


def compose(store: Store, live: Live, clock: Clock, settings: ModerationServiceSettings) -> Deps:
    """What handlers work with, on these stores."""
    known = FilterSet.empty()
    evidence = EvidenceStore(settings)

    async def read_filters() -> FilterSet:
        nonlocal known
        # A big pattern takes a while to compile.
        known = await asyncio.to_thread(known.updated, await repo.filters(store))
        return known

    return Deps(
        store=store,
        addresses=Addresses(live),
        filters=Fresh(
            read_filters,
            max_age=timedelta(seconds=_STALE_READINGS * settings.moderation_filter_refresh_seconds),
            clock=clock,
        ),
        has_filters=Fresh(lambda: repo.has_filters(store), max_age=_A_MOMENT, clock=clock),
        modes=Fresh(lambda: repo.modes(store), max_age=_A_MOMENT, clock=clock),
        events=Events(),
        clock=clock,
        settings=settings,
        discord=Discord(settings.discord_problem_user_webhook),
        paused_discord=Discord(settings.discord_paused_notice_webhook),
        mutes=Mutes(live),
        evidence=evidence,
        links=evidence,
    )
