"""An OpenAI-compatible server that says what a test tells it to say."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


def text(*pieces: str, finish: str | None = "stop") -> list[dict[str, Any]]:
    """The chunks of a reply in pieces."""
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    if finish is not None:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return chunks


class FakeBackend:
    """`chunks` are streamed with `pause` seconds between them; `error` (status, body) answers instead."""

    def __init__(self, *, props: dict[str, Any] | None = None) -> None:
        self.props = props
        self.chunks: list[dict[str, Any]] = text("Hello", " there")
        self.pause = 0.0
        self.error: tuple[int, dict[str, Any]] | None = None
        self.bodies: list[dict[str, Any]] = []
        self.is_stream_whole = False
        self.app = Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/props", self._props),
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
            ]
        )

    async def _models(self, _request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "the-file.gguf", "max_model_len": 4096}]})

    async def _props(self, _request: Request) -> Response:
        return JSONResponse({"error": "no"}, 404) if self.props is None else JSONResponse(self.props)

    async def _complete(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        if self.error is not None:
            status, body = self.error
            return JSONResponse(body, status)
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[bytes]:
        self.is_stream_whole = False
        for chunk in self.chunks:
            yield f"data: {json.dumps(chunk)}\n\n".encode()
            await asyncio.sleep(self.pause)
        self.is_stream_whole = True
        yield b"data: [DONE]\n\n"
