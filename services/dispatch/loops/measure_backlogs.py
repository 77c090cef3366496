"""How far behind the other loops are: work that is due and not done shows here, also while its loop hangs.

Reads only; every replica tells the same.
"""

from services.dispatch.deps import Deps
from services.dispatch.events import upkeep as events
from services.dispatch.repo import upkeep


async def measure_backlogs(deps: Deps) -> None:
    """One look."""
    for loop, seconds in (await upkeep.measure_backlogs(deps.store, deps.clock.now())).items():
        events.behind(loop, seconds)
