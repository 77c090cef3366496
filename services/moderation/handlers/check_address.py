"""CheckAddress: how long an address still has to stay out."""

from horde.live import LiveUnavailable
from services.moderation.deps import Deps


async def check_address(address: str, deps: Deps) -> int:
    """Seconds left; 0: it may come in, also when Redis is away and nobody can look (base-domain 7.1)."""
    try:
        return await deps.addresses.seconds_left(address, deps.clock.now())
    except LiveUnavailable:
        deps.events.checked_blind()
        return 0
