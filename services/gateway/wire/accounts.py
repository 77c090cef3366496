"""Whose key it is, and whose word counts for other addresses, as admission is asked."""

from horde_pb.admission.v1.admission_service_pb2 import (
    FindAccountRequest,
    ListProxyPasskeysRequest,
    ListProxyPasskeysResponse,
)


def request(api_key: str) -> FindAccountRequest:
    """The message that asks whose key this is."""
    return FindAccountRequest(api_key=api_key)


def passkeys_request() -> ListProxyPasskeysRequest:
    """The message that asks whose word counts for other addresses."""
    return ListProxyPasskeysRequest()


def passkey_hashes(known: ListProxyPasskeysResponse) -> tuple[bytes, ...]:
    """The SHA-256 of each passkey."""
    return tuple(known.passkey_hashes)
