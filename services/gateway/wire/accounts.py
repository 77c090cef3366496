"""An account as anybody may see it: base-domain 2.10."""

import orjson

from horde_pb.admission.v1.admission_service_pb2 import (
    FindAccountRequest,
    FindAccountResponse,
    ListProxyPasskeysRequest,
    ListProxyPasskeysResponse,
)
from services.gateway.answers import Answer


def request(api_key: str) -> FindAccountRequest:
    """The message that asks whose key this is."""
    return FindAccountRequest(api_key=api_key)


def passkeys_request() -> ListProxyPasskeysRequest:
    """The message that asks whose word counts for other addresses."""
    return ListProxyPasskeysRequest()


def passkey_hashes(known: ListProxyPasskeysResponse) -> tuple[bytes, ...]:
    """The SHA-256 of each passkey."""
    return tuple(known.passkey_hashes)


def answer(account: FindAccountResponse) -> Answer:
    """The account's public fields. Kudos are a number with at most two decimals."""
    kudos = account.kudos_hundredths / 100
    value = {
        "username": account.username,
        "id": account.id,
        "kudos": int(kudos) if kudos.is_integer() else kudos,
        "concurrency": account.concurrency,
        "moderator": account.moderator,
        "trusted": account.trusted,
        "flagged": account.flagged,
        "contributions": {},
    }
    return Answer(orjson.dumps(value))
