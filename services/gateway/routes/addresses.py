"""Addresses that are kept out, as moderators see and decide it."""

from horde.contract import reasons
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.shapes import array, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import addresses

_MAX_BODY = 16 * 1024
"""Bytes; an address and a number."""

_ALL = "/v2/operations/ipaddr"
_ONE = "/v2/operations/ipaddr/{ipaddr:path}"
_WORKER = "/v2/operations/block_worker_ipaddr/{worker_id}"


async def list_blocks(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Every network that is kept out."""
    ask.api_key()
    told = await deps.neighbours.operations.list_address_blocks(addresses.list_request(ask.caller))
    return addresses.timeouts_answer(told.blocks)


async def block(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator keeps an address or a network out."""
    message = addresses.block_request(await ask.object(_MAX_BODY), ask.caller)
    ask.api_key()
    await deps.neighbours.operations.block_address(message)
    return addresses.DONE


async def unblock(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator lets an address or a network in again."""
    message = addresses.unblock_request(await ask.object(_MAX_BODY), ask.caller)
    ask.api_key()
    await deps.neighbours.operations.unblock_address(message)
    return addresses.DONE


async def timeouts(deps: GatewayDeps, ask: Exchange) -> Answer:
    """All that keeps one address out."""
    ask.api_key()
    message = addresses.get_request(ask.parameter("ipaddr"), ask.caller)
    return addresses.timeouts_answer((await deps.neighbours.operations.get_address_timeouts(message)).timeouts)


async def block_worker(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator keeps out where a worker comes from."""
    body = await ask.object(_MAX_BODY)
    message = addresses.block_worker_request(ask.parameter("worker_id"), body, ask.caller)
    ask.api_key()
    return addresses.worker_answer(await deps.neighbours.operations.block_worker_address(message))


async def unblock_worker(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator lets in again where a worker comes from."""
    ask.api_key()
    message = addresses.unblock_worker_request(ask.parameter("worker_id"), ask.caller)
    await deps.neighbours.operations.unblock_worker_address(message)
    return addresses.DONE


OPERATIONS = (
    Operation(
        "GET",
        _ALL,
        list_blocks,
        Budget.DEFAULT,
        described(
            "Networks that are kept out. Single addresses are seen one by one.",
            key=Key.REQUIRED,
            answers={200: array(ref("AddressTimeout"))},
            refuses=[reasons.NOT_MODERATOR],
        ),
        private=True,
    ),
    Operation(
        "POST",
        _ALL,
        block,
        Budget.DEFAULT,
        described(
            "Keep an address out, or with a slash a network.",
            key=Key.REQUIRED,
            body="NewAddressTimeout",
            answers={200: ref("Done")},
            refuses=[reasons.NOT_MODERATOR],
        ),
        private=True,
    ),
    Operation(
        "DELETE",
        _ALL,
        unblock,
        Budget.DEFAULT,
        described(
            "Let an address or a network in again. A single address is forgiven its suspicion.",
            key=Key.REQUIRED,
            body="AddressToFree",
            answers={200: ref("Done")},
            refuses=[reasons.NOT_MODERATOR],
        ),
        private=True,
    ),
    Operation(
        "GET",
        _ONE,
        timeouts,
        Budget.DEFAULT,
        described(
            "All that keeps one address out.",
            key=Key.REQUIRED,
            answers={200: array(ref("AddressTimeout"))},
            refuses=[reasons.NOT_MODERATOR, reasons.BAD_REQUEST],
        ),
        private=True,
    ),
    Operation(
        "PUT",
        _WORKER,
        block_worker,
        Budget.DEFAULT,
        described(
            "Keep out where a worker comes from.",
            key=Key.REQUIRED,
            body="WorkerTimeout",
            answers={200: ref("WorkerBlocked")},
            refuses=[reasons.NOT_MODERATOR, reasons.WORKER_NOT_FOUND],
        ),
        private=True,
    ),
    Operation(
        "DELETE",
        _WORKER,
        unblock_worker,
        Budget.DEFAULT,
        described(
            "Let in again where a worker comes from.",
            key=Key.REQUIRED,
            answers={200: ref("Done")},
            refuses=[reasons.NOT_MODERATOR, reasons.WORKER_NOT_FOUND],
        ),
        private=True,
    ),
)
