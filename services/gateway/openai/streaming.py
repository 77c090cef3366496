"""A completion as an event stream. Contract: clients-and-front 3.5 and 3.6."""

import asyncio
import contextlib
from collections.abc import Sequence

from starlette.types import Send

from services.gateway.answers import Header, StreamCut
from services.gateway.openai import chunks as rendering
from services.gateway.openai.chunks import Chunks
from services.gateway.openai.completion import Asked
from services.gateway.openai.errors import SERVER, FrontError, error_of
from services.gateway.openai.following import Abandoned, Following
from services.gateway.openai.front import Front
from services.gateway.openai.reconcile import Diverged, Relay, Said
from services.gateway.openai.reply import Reply

HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"connection", b"keep-alive"),
)

_LAST_WORD_SECONDS = 1.0
"""How long a client that did not read is given to take the error that ends its stream."""


class Streaming:
    """One stream, from its first byte to its last."""

    def __init__(self, front: Front, asked: Asked, following: Following, relay: Relay, send: Send) -> None:
        self._front = front
        self._asked = asked
        self._following = following
        self._relay = relay
        self._send = send
        self._include_usage = False
        self._chunks: Chunks | None = None
        self._began_at = self._wrote_at = front.deps.clock.monotonic()

    async def run(self, headers: Sequence[Header], *, include_usage: bool, most_seconds: float) -> None:
        """Sends everything. Raises StreamCut when the connection has to be cut, Abandoned when the client is gone.

        `most_seconds` bounds it all: a client that does not read would otherwise hold it for ever.
        """
        self._include_usage = include_usage
        await self._send({"type": "http.response.start", "status": 200, "headers": [*HEADERS, *headers]})
        try:
            async with asyncio.timeout(most_seconds):
                await self._relay_reply()
        except TimeoutError:
            await self._front.cancel(self._asked.request_id, "stalled")
            await self._stalled()
            raise StreamCut from None
        except FrontError as error:
            await self._break(error)
            if self._front.deps.settings.front_error_close == "abort":
                raise StreamCut from None
            await self._send({"type": "http.response.body", "body": rendering.DONE})
        except (Abandoned, asyncio.CancelledError):
            raise
        except Exception as bug:
            await self._break(error_of(bug))
            raise

    async def _relay_reply(self) -> None:
        clock = self._front.deps.clock
        silence = self._front.deps.settings.front_keepalive_seconds
        while self._following.reply is None:
            events = await self._following.step(self._wrote_at + silence)
            said = self._relay.take(events)
            if said.content or said.reasoning:
                await self._write(self._texts(said))
            elif clock.monotonic() >= self._wrote_at + silence:
                await self._write([self._keep_alive()])
        await self._finish(self._following.reply)

    async def _finish(self, reply: Reply) -> None:
        """What is left of the stored reply, then the end."""
        try:
            left = self._relay.finish(reply)
        except Diverged:
            if reply.finish_reason != "content_filter":
                raise self._diverged(reply) from None
            # censored: what was relayed cannot be taken back, and more of another text would only garble it
            left = Said("", "")
        if self._relay.silent_restarts:
            self._front.events.restarted("silent", self._relay.silent_restarts)
        if self._relay.is_continued_by(reply):
            self._front.events.restarted("prefix")
        written = self._texts(left, reply)
        chunks = self._opened(reply.worker_id, reply.model, written)
        written += chunks.tool_calls(reply)
        written.append(chunks.finish(reply.finish_reason))
        standing = self._following.standing
        if standing is not None:
            written += chunks.usage(reply, standing)
            self._front.events.delivered(reply.finish_reason, lowered=standing.is_lowered)
        written.append(rendering.DONE)
        await self._send({"type": "http.response.body", "body": b"".join(written)})

    def _diverged(self, reply: Reply) -> FrontError:
        self._front.events.restarted("error")
        if self._relay.is_continued_by(reply):
            message = "Another worker had to start over, and its reply does not continue what was already sent."
        else:
            message = "The worker's reply does not continue what it had already sent."
        return FrontError(502, SERVER, "stream_restarted", message)

    def _texts(self, said: Said, reply: Reply | None = None) -> list[bytes]:
        """The chunks of some text, behind the role when they are the first; `reply`: whose text it is, once stored."""
        written: list[bytes] = []
        if not said.content and not said.reasoning:
            return written
        first = self._relay.first
        if first is not None:
            chunks = self._opened(first.worker_id, first.model, written)
        else:
            chunks = self._opened(reply.worker_id if reply else "", reply.model if reply else "", written)
        if said.reasoning:
            written.append(chunks.reasoning(said.reasoning))
        if said.content:
            written.append(chunks.content(said.content))
        return written

    def _opened(self, worker_id: str, model: str, written: list[bytes]) -> Chunks:
        """The stream's chunks. The first call decides whose name they all bear, and writes the role."""
        if self._chunks is None:
            self._chunks = Chunks(self._asked, worker_id, model, include_usage=self._include_usage)
            written.append(self._chunks.role())
            self._front.events.first_delta(self._front.deps.clock.monotonic() - self._began_at)
        return self._chunks

    def _keep_alive(self) -> bytes:
        match self._front.deps.settings.front_keepalive:
            case "comment":
                return rendering.KEEP_ALIVE
            case "chunk" if self._chunks is not None:
                return self._chunks.empty()
            case _:
                return b""

    async def _write(self, written: Sequence[bytes]) -> None:
        body = b"".join(written)
        if body:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
        self._wrote_at = self._front.deps.clock.monotonic()

    async def _stalled(self) -> None:
        """Tells a client why it is cut off, as far as it takes anything at all."""
        error = FrontError(504, "timeout_error", "stream_stalled", "The stream was read too slowly and was ended.")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORD_SECONDS):
                await self._break(error)

    async def _break(self, error: FrontError) -> None:
        """Tells the error. Then the connection is cut unless set otherwise: many take a clean end for success."""
        self._front.events.told(error.code, error.status, "stream")
        event = rendering.error_event(error.body())
        await self._send({"type": "http.response.body", "body": event, "more_body": True})
