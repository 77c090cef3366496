"""BlockAddress: a moderator keeps an address or a network out."""

from datetime import timedelta

from services.moderation import looking, standings
from services.moderation.deps import Deps
from services.moderation.rules import blocking


async def block_address(api_key: str, address: str, length: timedelta, deps: Deps) -> None:
    """Raises Refusal: BadRequest first of all (base-domain 9), InvalidAPIKey, NotModerator; and LiveUnavailable."""
    target = blocking.target(address)
    operator = await looking.moderator_of(api_key, deps)
    await standings.keep_out(target, length, deps)
    deps.events.decided("address blocked", operator.id, seconds=int(length.total_seconds()))
