"""An account for somebody's tests: only where it is switched on, and only for callers on this machine."""

import ipaddress

from starlette.exceptions import HTTPException

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import described
from services.gateway.documents.shapes import ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import users

_MAX_BODY = 16 * 1024


async def make_account(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Makes the account, or makes it new. The socket's peer counts, whatever a header says."""
    if not deps.settings.test_api_keys:
        raise HTTPException(404)
    peer = ask.scope.get("client")
    if not peer or not _is_loopback(peer[0]):
        raise Refusal(reasons.FORBIDDEN, "This is for callers on the same machine alone.")
    body = await ask.object(_MAX_BODY) if ask.has_body() else {}
    return users.test_account_answer(await deps.neighbours.accounts.make_test_account(users.test_account_request(body)))


def _is_loopback(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


OPERATIONS = (
    Operation(
        "POST",
        "/v2/dev/test-user",
        make_account,
        Budget.DEFAULT,
        described(
            "Make an account for tests, where HORDE_TEST_APIKEYS allows it.",
            body="TestAccount",
            answers={200: ref("TestAccountMade"), 201: ref("TestAccountMade"), 404: ref("Error")},
            refuses=[reasons.FORBIDDEN, reasons.VALIDATION_FAILED, reasons.NUL_BYTE_IN_PAYLOAD],
        ),
        private=True,
    ),
)
