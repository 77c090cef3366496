"""The clients and workers of a benchmark: accounts, HTTP calls, and the worker's side of a chat job."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from horde.cli.admin import create_account
from horde.cli.bench.connections import Connections
from horde.cli.bench.report import Recorder
from horde.cli.bench.system import System

MODEL = "bench/Bench-7B"
_CONTEXT = 8192
_LENGTH = 1024


@dataclass(frozen=True)
class Caller:
    """One account's HTTP calls against the gateway."""

    connections: Connections
    api_key: str
    recorder: Recorder

    async def call(
        self,
        name: str,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        expect: tuple[int, ...] = (200, 202),
    ) -> Any:
        """One timed call; None when the answer was not expected."""
        data = orjson.dumps(body) if body is not None else b""
        headers = (
            f"apikey: {self.api_key}\r\ncontent-type: application/json\r\nclient-agent: horde-bench:1:chat-horde\r\n"
        )
        with self.recorder.timed(name):
            status, answer = await self.connections.call(method, path, headers, data)
        if status not in expect:
            self.recorder.failed(name, status)
            return None
        return orjson.loads(answer)


async def callers(
    system: System, connections: Connections, recorder: Recorder, *, prefix: str, count: int
) -> list[Caller]:
    """So many trusted accounts with plenty of kudos."""
    made = []
    for number in range(count):
        account = await create_account(
            system.database_url, system.secret_key, f"{prefix}{number}", kudos=1_000_000, trusted=True, concurrency=500
        )
        made.append(Caller(connections, account.api_key, recorder))
    return made


def pop_body(name: str) -> dict[str, object]:
    """A chat worker's pop."""
    return {
        "name": name,
        "models": [MODEL],
        "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
        "max_length": _LENGTH,
        "max_context_length": _CONTEXT,
        "chat_jobs": True,
        "prompt_jobs": False,
        "model_id": MODEL,
        "chat_limits": {"max_context_length": _CONTEXT, "max_length": _LENGTH},
        "chat_features": ["prompt_overflow_refused"],
    }


def chat_body(*, stream: bool = False) -> dict[str, object]:
    """A plain chat request of about 2 KB."""
    return {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "You answer in one sentence."},
            {"role": "user", "content": "Tell me about the sea. " + "It is wide and blue and full of fish. " * 48},
        ],
        "max_tokens": 80,
        "temperature": 0.7,
        "stream": stream,
    }


def reply_body(generation: str) -> dict[str, object]:
    """A chat reply of 400 characters."""
    return {
        "id": generation,
        "model_id": MODEL,
        "message": {"role": "assistant", "content": "The sea is wide and blue. " * 16},
        "finish_reason": "stop",
    }


async def pause(seconds: float = 0.01) -> None:
    """Between two polls."""
    await asyncio.sleep(seconds)
