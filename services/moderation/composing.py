"""Puts together what handlers work with. Apart from `__main__`, so that tests serve exactly the same thing."""

from datetime import timedelta

from horde.clock import Clock
from horde.live import Live
from horde.store import Store
from services.moderation import repo
from services.moderation.events import Events
from services.moderation.freshness import Fresh
from services.moderation.handlers import Deps
from services.moderation.live import Addresses
from services.moderation.patterns import FilterSet
from services.moderation.settings import ModerationServiceSettings

_A_MOMENT = timedelta(seconds=1)
"""A moderator who switches a mode sees it hold everywhere within the second."""

_STALE_READINGS = 2
"""The loop reads once per interval; only when it has missed one does a call read for itself."""


def compose(store: Store, live: Live, clock: Clock, settings: ModerationServiceSettings) -> Deps:
    """What handlers work with, on these stores."""
    known = FilterSet.empty()

    async def read_filters() -> FilterSet:
        nonlocal known
        known = known.updated(await repo.filters(store))
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
    )
