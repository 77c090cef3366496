"""PublishEvents: what became true of a request is published on its completion channel."""

from collections.abc import Sequence

from services.progress.deps import Deps
from services.progress.rules.feed import Signal


async def publish_events(request_id: str, signals: Sequence[Signal], deps: Deps) -> None:
    """Publishes the signals in their order. Raises LiveUnavailable; the caller takes it as bad luck."""
    if signals:
        await deps.leases.publish(request_id, signals)
