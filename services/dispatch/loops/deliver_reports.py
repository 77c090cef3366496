"""Reports that wait for moderation. Two replicas may tell the same: moderation knows a repeat by its id."""

from services.dispatch import reporting
from services.dispatch.deps import Deps


async def deliver_reports(deps: Deps) -> None:
    """One pass. Raises Outage when moderation is away: the loop puts it off and the reports stay."""
    await reporting.deliver_reports(deps)
