"""Sums by period: what ended is folded into them, so that reading them stays cheap. base-domain 10.2."""

from datetime import timedelta

from services.dispatch.deps import Deps
from services.dispatch.repo import fleet as repo

_SETTLED = timedelta(minutes=2)
"""An ending is written with the time at which its transaction began: by then each is there."""


async def compile_text_stats(deps: Deps) -> None:
    """One pass. Safe to run twice."""
    await repo.compile_text_stats(deps.store, deps.clock.now() - _SETTLED)
