"""Whether the caller is a moderator. moderation.md A8.1: a key first, then a known one, then the role."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.moderation.v1.review_service_pb2 import Reviewer
from services.gateway.deps import GatewayDeps
from services.gateway.endpoints import Exchange
from services.gateway.wire import accounts


async def moderator(deps: GatewayDeps, ask: Exchange) -> Reviewer:
    """Who reads or writes. Raises Refusal(MissingAPIKey, InvalidAPIKey, NotModerator)."""
    if ask.caller.api_key is None:
        raise Refusal(reasons.MISSING_API_KEY, "The header 'apikey' is missing: only moderators may do this.")
    account = await deps.neighbours.find_account(accounts.request(ask.caller.api_key))
    if account.deleted:
        raise Refusal(reasons.INVALID_API_KEY, "The account of this API key was deleted.")
    if not account.moderator:
        raise Refusal(reasons.NOT_MODERATOR, "Only moderators may do this.")
    return Reviewer(account_id=account.id, address=ask.caller.remote_address)
