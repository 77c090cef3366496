"""ListAddressBlocks: every network that is kept out."""

from services.moderation import looking
from services.moderation.deps import Deps
from services.moderation.rules.blocking import KeptOut


async def list_address_blocks(api_key: str, deps: Deps) -> list[KeptOut]:
    """The blocks, by their names. Raises Refusal(InvalidAPIKey, NotModerator), and LiveUnavailable."""
    await looking.moderator_of(api_key, deps)
    return sorted(await deps.addresses.blocks(deps.clock.now()), key=lambda block: block.address)
