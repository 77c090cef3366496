"""GetAddressTimeouts: all that keeps one address out."""

from services.moderation import looking
from services.moderation.deps import Deps
from services.moderation.rules import blocking
from services.moderation.rules.blocking import KeptOut


async def get_address_timeouts(api_key: str, address: str, deps: Deps) -> list[KeptOut]:
    """Blocks around it and its own timeout. Raises Refusal: BadRequest first of all, InvalidAPIKey, NotModerator."""
    networks, subject = blocking.around(address)
    await looking.moderator_of(api_key, deps)
    return await deps.addresses.standing(networks, subject, deps.clock.now())
