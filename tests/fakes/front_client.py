"""A client of the OpenAI front, before a request whose story the test tells."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from tests.fakes.running_gateway import running
from tests.fakes.told_request import MODEL, ToldRequest

PATH = "/v1/chat/completions"
ANONYMOUS = {"authorization": "Bearer 0000000000"}


def body(**more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}], **more}


@dataclass
class Front:
    client: httpx.AsyncClient
    told: ToldRequest

    async def plain(self, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        return await self.client.post(PATH, json=body(**more), headers=ANONYMOUS | (headers or {}))

    @asynccontextmanager
    async def stream(self, headers: dict[str, str] | None = None, **more: Any) -> AsyncIterator[httpx.Response]:
        sent = body(stream=True, **more)
        async with self.client.stream("POST", PATH, json=sent, headers=ANONYMOUS | (headers or {})) as response:
            yield response


@asynccontextmanager
async def front(**settings: Any) -> AsyncIterator[Front]:
    told = ToldRequest()
    async with running(told, **settings) as gateway:
        yield Front(gateway.client, told)


@dataclass
class Streamed:
    """What a client read: chunks, raw lines, whether `[DONE]` came, whether the connection was cut."""

    chunks: list[dict[str, Any]]
    lines: list[str]
    is_done: bool
    is_cut: bool

    @property
    def text(self) -> str:
        return "".join(choice["delta"].get("content") or "" for choice in self.choices)

    @property
    def choices(self) -> list[dict[str, Any]]:
        return [choice for chunk in self.chunks for choice in chunk.get("choices", ())]

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.chunks[-1]["error"]
        return error


class Reader:
    """A client that reads a stream, and can say when it has read something."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()
        self.streamed = Streamed([], [], is_done=False, is_cut=False)

    async def until(self, is_so: Callable[[Streamed], bool]) -> None:
        """Reads on until it is so of what was read."""
        while not is_so(self.streamed):
            self._take(await anext(self._lines))

    async def text(self, text: str) -> None:
        """Reads on until this text has come."""
        await self.until(lambda streamed: streamed.text == text)

    async def rest(self) -> Streamed:
        """Reads to the end."""
        try:
            async for line in self._lines:
                self._take(line)
        except httpx.RemoteProtocolError:
            self.streamed.is_cut = True
        return self.streamed

    def _take(self, line: str) -> None:
        self.streamed.lines.append(line)
        if line == "data: [DONE]":
            self.streamed.is_done = True
        elif line.startswith("data: "):
            self.streamed.chunks.append(json.loads(line.removeprefix("data: ")))


async def read(response: httpx.Response) -> Streamed:
    """A whole stream."""
    return await Reader(response).rest()


def error_of(response: httpx.Response) -> dict[str, Any]:
    error: dict[str, Any] = response.json()["error"]
    assert {"message", "type", "param", "code", "request_id"} <= error.keys()
    assert response.headers["x-request-id"] == error["request_id"]
    return error
