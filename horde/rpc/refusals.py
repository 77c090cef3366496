"""How a refusal crosses the wire and comes out as the same refusal.

It travels as `google.rpc.ErrorInfo` in the status details: `reason` is the refusal's key, `metadata` holds its facts as
JSON. Both sides of one call use this module, so nobody else has to know a status code.
"""

from collections.abc import Mapping

import grpc
import orjson
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal

DOMAIN = "chat-horde"
DETAILS_KEY = "grpc-status-details-bin"

_MESSAGE_BYTES = 8 * 1024
_FACTS_BYTES = 32 * 1024
"""Together 40 KiB, 54 KiB in base64: under the 64 KiB of metadata that both sides accept."""

_STATUS_LINE_BYTES = 512
"""The plain status message is percent-encoded, three bytes for one; the whole text stands in the details."""

_CODES: Mapping[str, grpc.StatusCode] = {code.name: code for code in grpc.StatusCode}


def pack(refusal: Refusal) -> tuple[grpc.StatusCode, str, tuple[tuple[str, bytes], ...]]:
    """The status code, the status message and the trailing metadata of a refusal."""
    code = _CODES[refusal.reason.code]
    return code, _clipped(refusal.message, _STATUS_LINE_BYTES), ((DETAILS_KEY, packed(refusal)),)


def packed(refusal: Refusal) -> bytes:
    """A refusal as bytes, for an answer that holds those of several calls."""
    code = _CODES[refusal.reason.code]
    info = error_details_pb2.ErrorInfo(reason=refusal.reason.key, domain=DOMAIN)
    info.metadata["word"] = refusal.reason.word
    if refusal.facts:
        info.metadata["facts"] = _facts(refusal.facts).decode()
    if refusal.retry_after is not None:
        info.metadata["retry_after"] = str(refusal.retry_after)
    number: int = code.value[0]
    status = status_pb2.Status(code=number, message=_clipped(refusal.message, _MESSAGE_BYTES))
    status.details.add().Pack(info)
    details: bytes = status.SerializeToString()
    return details


def unpacked(details: bytes) -> Refusal | None:
    """What `packed` packed; None when the bytes are something else."""
    return _refusal(details, grpc.StatusCode.UNKNOWN.name)


def unpack(error: grpc.aio.AioRpcError) -> Refusal | None:
    """The refusal that a failed call carries; None when it failed for another reason."""
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            return _refusal(value, error.code().name)
    return None


def _refusal(details: bytes, code: str) -> Refusal | None:
    status = status_pb2.Status()
    info = error_details_pb2.ErrorInfo()
    try:
        status.ParseFromString(details)
    except DecodeError:
        return None
    for detail in status.details:
        if detail.Unpack(info) and info.domain == DOMAIN:
            # A neighbour that is newer than us may know a reason that we do not.
            reason = reasons.ALL.get(info.reason) or Reason(info.reason, info.metadata.get("word", info.reason), code)
            retry_after = info.metadata.get("retry_after")
            facts = orjson.loads(info.metadata["facts"]) if "facts" in info.metadata else {}
            return Refusal(reason, status.message, facts, retry_after=None if retry_after is None else int(retry_after))
    return None


def _facts(facts: Mapping[str, object]) -> bytes:
    """The facts as JSON. Too many bytes: the biggest facts are left out and named under `clipped`."""
    packed = orjson.dumps(dict(facts), default=str)
    if len(packed) <= _FACTS_BYTES:
        return packed
    sizes = {name: len(orjson.dumps(value, default=str)) for name, value in facts.items()}
    kept = dict(facts)
    clipped: list[str] = []
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        del kept[name]
        clipped.append(name)
        packed = orjson.dumps({**kept, "clipped": clipped}, default=str)
        if len(packed) <= _FACTS_BYTES:
            break
    return packed


def _clipped(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, cut between characters."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= limit else encoded[: limit - 3].decode("utf-8", "ignore") + "…"
