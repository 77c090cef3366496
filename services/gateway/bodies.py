"""Reading a request's body: bounded before it is kept, and strict before it is believed."""

import asyncio
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

from horde.contract import limits, reasons, strict_json
from horde.contract.refusal import Refusal
from horde.heavy import heavy

_SECONDS_TO_SEND = 120
"""A caller that needs longer for 36 MiB sends less than 300 KiB a second: it holds a socket and brings nothing."""


class Disconnected(Exception):
    """The caller went away before its body was complete. Nobody is left to be answered."""


async def read_object(scope: Scope, receive: Receive, limit: int) -> dict[str, object]:
    """A body that has to be one JSON object of at most `limit` bytes.

    Raises Refusal, HTTPException(408, 415), Disconnected.
    """
    return await heavy(strict_json.loads_object, await read(scope, receive, limit))


async def read(scope: Scope, receive: Receive, limit: int = limits.MAX_CHAT_BODY_BYTES) -> bytes:
    """The body's bytes. A longer one is refused before it is read; without a declared length, one byte past it.

    Raises Refusal(RequestTooLarge), HTTPException(408, 415), Disconnected.
    """
    declared = _declared_length(scope["headers"])
    if declared is not None and declared > limit:
        raise _too_large(limit)
    message = await receive()
    only: bytes = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body") and len(only) <= limit:
        return only
    try:
        async with asyncio.timeout(_SECONDS_TO_SEND):
            return await _collect(message, receive, limit)
    except TimeoutError:
        raise HTTPException(408, f"The body did not arrive within {_SECONDS_TO_SEND} seconds.") from None


async def _collect(message: Message, receive: Receive, limit: int) -> bytes:
    kept = bytearray()
    while message["type"] == "http.request":
        kept += message.get("body", b"")
        if len(kept) > limit:
            raise _too_large(limit)
        if not message.get("more_body"):
            return bytes(kept)
        message = await receive()
    raise Disconnected


def _declared_length(headers: Sequence[tuple[bytes, bytes]]) -> int | None:
    """The `Content-Length`; also refuses what no route reads: bodies that are not JSON, or are compressed."""
    length: int | None = None
    for name, value in headers:
        if name == b"content-length":
            length = int(value) if value.isdigit() else None
        elif name == b"content-type":
            kind = value.split(b";", 1)[0].strip().lower()
            if kind and not kind.endswith((b"/json", b"+json")):
                raise HTTPException(415, f"The body has to be application/json, not {kind.decode('latin-1')[:100]}.")
        elif name == b"content-encoding" and value.strip().lower() not in {b"", b"identity"}:
            raise HTTPException(415, "The body must not be compressed.")
    return length


def _too_large(limit: int) -> Refusal:
    return Refusal(reasons.REQUEST_TOO_LARGE, f"The body may have at most {limit} bytes.")
