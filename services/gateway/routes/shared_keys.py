"""Keys that an owner lends, and kudos given from one account to another."""

from horde.contract import reasons
from horde_pb.admission.v1.shared_keys_pb2 import DeleteSharedKeyRequest, GetSharedKeyRequest
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.shapes import ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import shared_keys

_ONE = "/v2/sharedkeys/{id}"
_MAX_BODY = 16 * 1024
"""Bytes of a body here: a name of 255 characters, escaped, several times over."""


async def create(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An owner lends a key."""
    message = shared_keys.create_request(await ask.object(_MAX_BODY), ask.caller.api_key or "")
    ask.api_key()
    return shared_keys.answer((await deps.neighbours.accounts.create_shared_key(message)).key)


async def one(deps: GatewayDeps, ask: Exchange) -> Answer:
    """What everybody who has the key may know of it; more for its owner."""
    message = GetSharedKeyRequest(id=ask.parameter("id"), api_key=ask.caller.api_key or "")
    return shared_keys.answer((await deps.neighbours.accounts.get_shared_key(message)).key)


async def update(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An owner changes a key."""
    body = await ask.object(_MAX_BODY)
    message = shared_keys.update_request(ask.parameter("id"), body, ask.caller.api_key or "")
    ask.api_key()
    return shared_keys.answer((await deps.neighbours.accounts.update_shared_key(message)).key)


async def delete(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An owner takes a key back."""
    message = DeleteSharedKeyRequest(api_key=ask.api_key(), id=ask.parameter("id"))
    await deps.neighbours.accounts.delete_shared_key(message)
    return shared_keys.DELETED


async def transfer(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An account gives kudos to another."""
    body = await ask.object(_MAX_BODY)
    message = shared_keys.transfer_request(body, ask.caller.api_key or "", ask.header(b"idempotency-key"))
    ask.api_key()
    return shared_keys.transferred(await deps.neighbours.accounts.transfer_kudos(message))


async def award(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The horde's first account gives kudos that nobody paid."""
    message = shared_keys.award_request(await ask.object(_MAX_BODY), ask.caller.api_key or "")
    ask.api_key()
    return shared_keys.awarded(await deps.neighbours.accounts.award_kudos(message))


_FOREIGN = [reasons.ANON_FORBIDDEN, reasons.FORBIDDEN]

OPERATIONS = (
    Operation(
        "PUT",
        "/v2/sharedkeys",
        create,
        Budget.NEW_SHARED_KEY,
        described(
            "Lend a key of one's own.",
            body="SharedKeyChange",
            key=Key.REQUIRED,
            answers={200: ref("SharedKey")},
            refuses=[*_FOREIGN, reasons.NUL_BYTE_IN_PAYLOAD],
        ),
    ),
    Operation(
        "GET",
        _ONE,
        one,
        Budget.DEFAULT,
        described(
            "A shared key. Its owner's key shows what waits through it.",
            key=Key.OPTIONAL,
            answers={200: ref("SharedKey")},
        ),
        private=True,
    ),
    Operation(
        "PATCH",
        _ONE,
        update,
        Budget.DEFAULT,
        described(
            "Change a key that one lends.",
            body="SharedKeyChange",
            key=Key.REQUIRED,
            answers={200: ref("SharedKey")},
            refuses=[*_FOREIGN, reasons.NO_SHARED_KEY_MOD_SELECTED, reasons.NUL_BYTE_IN_PAYLOAD],
        ),
    ),
    Operation(
        "DELETE",
        _ONE,
        delete,
        Budget.DEFAULT,
        described("Take back a key that one lends.", key=Key.REQUIRED, answers={200: ref("Done")}, refuses=_FOREIGN),
    ),
    Operation(
        "POST",
        "/v2/kudos/transfer",
        transfer,
        Budget.KUDOS_TRANSFER,
        described(
            "Give kudos to another account, or into a shared key. An Idempotency-Key makes a repeat the same gift.",
            body="Gift",
            key=Key.REQUIRED,
            answers={200: ref("Given")},
            refuses=[
                reasons.KUDOS_TRANSFER_FROM_ANON,
                reasons.INVALID_TARGET_USERNAME,
                reasons.SHARED_KEY_EXPIRED_IN_TRANSFER,
                reasons.KUDOS_TRANSFER_TO_ANON,
                reasons.KUDOS_TRANSFER_TO_SELF,
                reasons.TOO_FAST_KUDOS_TRANSFERS,
                reasons.FAULT_WHEN_KUDOS_SENDING,
                reasons.SOURCE_ACCOUNT_FLAGGED,
                reasons.EDUCATION_CANNOT_SEND_KUDOS,
                reasons.FAULT_WHEN_KUDOS_RECEIVING,
                reasons.TARGET_ACCOUNT_FLAGGED,
                reasons.DELETED_USER_IN_TRANSFER,
                reasons.NEGATIVE_KUDOS_TRANSFER,
                reasons.INVALID_KUDOS_TRANSFER_AMOUNT,
                reasons.KUDOS_TRANSFER_NOT_ENOUGH,
                reasons.IDEMPOTENCY_KEY_CONFLICT,
                reasons.NUL_BYTE_IN_PAYLOAD,
            ],
        ),
    ),
    Operation(
        "POST",
        "/v2/kudos/award",
        award,
        Budget.DEFAULT,
        described(
            "Award kudos that nobody paid: the horde's first account alone may.",
            body="Gift",
            key=Key.REQUIRED,
            answers={200: ref("Awarded")},
            refuses=[
                reasons.NOT_PRIVILEGED,
                reasons.INVALID_TARGET_USERNAME,
                reasons.DELETED_USER,
                reasons.NUL_BYTE_IN_PAYLOAD,
            ],
        ),
    ),
)
