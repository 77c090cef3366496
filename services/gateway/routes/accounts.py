"""Accounts, by key."""

from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.schemas import ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import accounts


async def find_user(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Whose key this is."""
    return accounts.answer(await deps.neighbours.find_account(accounts.request(ask.api_key())))


OPERATIONS = (
    Operation(
        "GET",
        "/v2/find_user",
        find_user,
        Budget.DEFAULT,
        described("Whose key this is.", key=Key.REQUIRED, answers={200: ref("Account")}),
    ),
)
