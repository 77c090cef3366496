"""Chat requests: submit, status, cancel."""

from horde.contract import strict_json
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import chat


async def submit(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Queues a request. Admission is the only reader of the body, so it is parsed once."""
    body = await ask.body()
    if ask.caller.api_key is None:
        # Of two mistakes, the body's is told first (base-domain 1.11).
        strict_json.loads_object(body)
    ask.api_key()
    return chat.submit_answer(await deps.neighbours.admit_chat(chat.submit_request(body, ask.caller)))


async def status(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What became of a request so far. The id is the permission."""
    found = await deps.neighbours.get_status(chat.status_request(ask.parameter("id")))
    return chat.status_answer(found.status)


async def cancel(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Cancels a request. The id is the permission."""
    found = await deps.neighbours.cancel_request(chat.cancel_request(ask.parameter("id")))
    return chat.status_answer(found.status)


_STATUS = "/v2/generate/chat/status/{id}"

OPERATIONS = (
    Operation("POST", "/v2/generate/chat/async", submit, Budget.CHAT_SUBMIT),
    Operation("GET", _STATUS, status, Budget.STATUS),
    Operation("DELETE", _STATUS, cancel, Budget.STATUS),
)
