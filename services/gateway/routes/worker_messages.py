"""What people tell workers: every pop's answer carries it."""

from horde.contract import limits, reasons
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.schemas import TEXT, array, choice, ref, whole
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import worker_messages as wire


async def list_messages(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A page of messages, the newest first: a moderator sees all, others their workers' and those for everybody."""
    message = wire.list_request(ask.query(), ask.caller)
    ask.api_key()
    return wire.list_answer(await deps.neighbours.list_worker_messages(message), deps.clock.now())


async def create(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An owner tells its worker something; a moderator any worker, or all of them."""
    message = wire.create_request(await ask.object(limits.MAX_WORKER_BODY_BYTES), ask.caller)
    ask.api_key()
    made = await deps.neighbours.create_worker_message(message)
    return wire.one_answer(made.message, deps.clock.now())


async def one(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One message, for whoever knows its id."""
    found = await deps.neighbours.get_worker_message(wire.get_request(ask.parameter("id")))
    return wire.one_answer(found.message, deps.clock.now())


async def delete(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Who wrote a message, or a moderator, takes it back."""
    ask.api_key()
    await deps.neighbours.delete_worker_message(wire.delete_request(ask.parameter("id"), ask.caller))
    return wire.DELETED


_ALL = "/v2/workers/messages"
_ONE = "/v2/workers/messages/{id}"

OPERATIONS = (
    Operation(
        "GET",
        _ALL,
        list_messages,
        Budget.DEFAULT,
        described(
            "Messages for workers, fifty to a page.",
            key=Key.REQUIRED,
            query={
                "user_id": TEXT,
                "worker_id": TEXT,
                "validity": choice("active", "expired", "all"),
                "page": whole(1, limits.MAX_WORKER_MESSAGE_PAGE, 1),
            },
            answers={200: array(ref("WorkerMessage"))},
            refuses=[reasons.BAD_REQUEST, reasons.ANON_FORBIDDEN, reasons.FORBIDDEN, reasons.WORKER_NOT_FOUND],
        ),
    ),
    Operation(
        "POST",
        _ALL,
        create,
        Budget.DEFAULT,
        described(
            "Tell a worker of one's own something; a moderator may tell any, or all.",
            body="NewWorkerMessage",
            key=Key.REQUIRED,
            answers={200: ref("WorkerMessage")},
            refuses=[
                reasons.ANON_FORBIDDEN,
                reasons.WORKER_NOT_FOUND,
                reasons.MESSAGES_ONLY_OWN_WORKERS,
                reasons.NUL_BYTE_IN_PAYLOAD,
            ],
        ),
    ),
    Operation(
        "GET",
        _ONE,
        one,
        Budget.DEFAULT,
        described("One message.", answers={200: ref("WorkerMessage")}, refuses=[reasons.WORKERMESSAGE_NOT_FOUND]),
    ),
    Operation(
        "DELETE",
        _ONE,
        delete,
        Budget.DEFAULT,
        described(
            "Take a message back.",
            key=Key.REQUIRED,
            answers={200: ref("WorkerMessageDeleted")},
            refuses=[reasons.ANON_FORBIDDEN, reasons.WORKERMESSAGE_NOT_FOUND, reasons.FORBIDDEN],
        ),
    ),
)
