"""An HTTP answer of the native API: a status and bytes of JSON, sent as they are."""

from collections.abc import Sequence

import orjson
from starlette.types import Receive, Scope, Send

type Header = tuple[bytes, bytes]

JSON = (b"content-type", b"application/json; charset=utf-8")


class StreamCut(Exception):
    """Raised inside an answer that has begun and must not look complete: the edge closes the connection."""


class Answer:
    """A complete answer; an ASGI application, so it stands wherever Starlette wants a response."""

    __slots__ = ("_headers", "_own", "body", "kind", "status")

    def __init__(self, body: bytes, status: int = 200, headers: Sequence[Header] = (), kind: Header = JSON) -> None:
        self.body = body
        self.status = status
        self.kind = kind
        self._own = headers
        self._headers = (kind, (b"content-length", b"%d" % len(body)), *headers)

    def with_body(self, body: bytes) -> "Answer":
        """The same answer, said otherwise."""
        return Answer(body, self.status, self._own, self.kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it. One answer may be sent many times, so what is sent is not what is kept."""
        del scope, receive
        await send({"type": "http.response.start", "status": self.status, "headers": self._headers})
        await send({"type": "http.response.body", "body": self.body})


def json_answer(value: object, status: int = 200, headers: Sequence[Header] = ()) -> Answer:
    """The JSON of `value`, which may hold `orjson.Fragment`s of JSON that is ready."""
    return Answer(orjson.dumps(value), status, headers)
