"""Workers, as their owners and clients see and change them."""

from horde.contract import limits, reasons
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.schemas import TEXT, array, choice, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import workers


async def list_workers(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The workers that are online. A moderator's key shows more of each."""
    message = workers.list_request(ask.query(), ask.caller)
    return (
        workers.NONE
        if message is None
        else workers.list_answer(await deps.neighbours.list_workers(message), deps.clock.now())
    )


async def one_by_id(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One worker, online or not."""
    found = await deps.neighbours.get_worker(workers.by_id(ask.parameter("id"), ask.caller))
    return workers.one_answer(found.worker, deps.clock.now())


async def one_by_name(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One worker, online or not."""
    found = await deps.neighbours.get_worker(workers.by_name(ask.parameter("name"), ask.caller))
    return workers.one_answer(found.worker, deps.clock.now())


async def update(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An owner or a moderator changes a worker."""
    body = await ask.object(limits.MAX_WORKER_BODY_BYTES)
    message = workers.update_request(ask.parameter("id"), body, ask.caller)
    ask.api_key()
    return workers.update_answer(await deps.neighbours.update_worker(message))


async def delete(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An owner or a moderator removes a worker."""
    ask.api_key()
    return workers.delete_answer(
        await deps.neighbours.delete_worker(workers.delete_request(ask.parameter("id"), ask.caller))
    )


_ONE = "/v2/workers/{id}"

OPERATIONS = (
    Operation(
        "GET",
        "/v2/workers",
        list_workers,
        Budget.DEFAULT,
        described(
            "The workers that are online.",
            key=Key.OPTIONAL,
            query={"type": choice("text", "image", "interrogation"), "name": TEXT},
            answers={200: array(ref("Worker"))},
            refuses=[reasons.VALIDATION_FAILED],
        ),
    ),
    Operation(
        "GET",
        "/v2/workers/name/{name:path}",
        one_by_name,
        Budget.DEFAULT,
        described(
            "One worker, by its name.",
            key=Key.OPTIONAL,
            answers={200: ref("Worker")},
            refuses=[reasons.WORKER_NOT_FOUND],
        ),
    ),
    Operation(
        "GET",
        _ONE,
        one_by_id,
        Budget.WORKER_BY_ID,
        described("One worker.", key=Key.OPTIONAL, answers={200: ref("Worker")}, refuses=[reasons.WORKER_NOT_FOUND]),
    ),
    Operation(
        "PUT",
        _ONE,
        update,
        Budget.WORKER_BY_ID,
        described(
            "Change a worker of one's own; a moderator may change any.",
            body="WorkerChange",
            key=Key.REQUIRED,
            answers={200: ref("WorkerChanged")},
            refuses=[
                reasons.ANON_FORBIDDEN,
                reasons.WORKER_NOT_FOUND,
                reasons.NOT_OWNER,
                reasons.NOT_MODERATOR,
                reasons.NO_WORKER_MOD_SELECTED,
                reasons.TOO_LONG_WORKER_NAME,
                reasons.PROFANE_WORKER_NAME,
                reasons.PROFANE_WORKER_INFO,
                reasons.WORKER_NAME_ALREADY_EXISTS,
                reasons.NUL_BYTE_IN_PAYLOAD,
            ],
        ),
    ),
    Operation(
        "DELETE",
        _ONE,
        delete,
        Budget.WORKER_BY_ID,
        described(
            "Remove a worker of one's own; a moderator may remove any.",
            key=Key.REQUIRED,
            answers={200: ref("WorkerDeleted")},
            refuses=[reasons.ANON_FORBIDDEN, reasons.WORKER_NOT_FOUND, reasons.NOT_OWNER, reasons.LOCKED],
        ),
    ),
)
