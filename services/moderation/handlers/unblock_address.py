"""UnblockAddress: a moderator lets an address or a network in again."""

from services.moderation import looking, standings
from services.moderation.deps import Deps
from services.moderation.rules import blocking


async def unblock_address(api_key: str, address: str, deps: Deps) -> None:
    """A single address is forgiven what was reported of it. Raises Refusal as block_address, and LiveUnavailable."""
    target = blocking.target(address)
    operator = await looking.moderator_of(api_key, deps)
    await standings.let_in(target, deps, forgive=True)
    deps.events.decided("address unblocked", operator.id)
