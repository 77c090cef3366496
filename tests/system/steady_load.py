"""Everything that clients and workers do, all the time and side by side, each answer judged, nothing tried twice."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
from openai import AsyncOpenAI

MODEL = "test/Steady-7B"
REPLY = "Every word of this reply has to arrive, in order, and none of them twice."

_PAUSE_SECONDS = 0.1
"""Between two rounds of one client: a dozen of them are a load that two cores carry while they start processes."""

_SERVED_WITHIN_SECONDS = 60

_KNOWN_SECONDS = 1.5
"""After this a submission counts on a worker that has come: admission looks every second."""


class Unexpected(AssertionError):
    """An answer that no client should have seen."""


class SteadyLoad:
    """Clients and workers of one horde. `failures` says what went wrong, `done` how much did not."""

    def __init__(self, url: str, client_key: str, worker_key: str) -> None:
        self.failures: list[str] = []
        self.done: Counter[str] = Counter()
        self._url = url
        self._client_key, self._worker_key = client_key, worker_key
        self._ending = False
        self._is_over = False

    @contextlib.asynccontextmanager
    async def running(self, *, clients: int = 3, streams: int = 3, workers: int = 6) -> AsyncIterator["SteadyLoad"]:
        """So many of each. When the block ends, the clients finish what they have begun, then the workers leave."""
        async with contextlib.AsyncExitStack() as stack:

            async def http(key: str) -> httpx.AsyncClient:
                return await stack.enter_async_context(
                    httpx.AsyncClient(base_url=f"{self._url}/api/v2", headers={"apikey": key}, timeout=40)
                )

            openai = AsyncOpenAI(base_url=f"{self._url}/v1", api_key=self._client_key, max_retries=0, timeout=40)
            stack.push_async_callback(openai.close)
            working = [
                asyncio.create_task(
                    self._again(lambda: self._is_over, self._work, await http(self._worker_key), number)
                )
                for number in range(workers)
            ]
            await self._until_served(await http(self._client_key))
            asking = [
                asyncio.create_task(
                    self._again(lambda: self._ending, self._submit_and_wait, await http(self._client_key))
                )
                for _ in range(clients)
            ]
            asking += [
                asyncio.create_task(self._again(lambda: self._ending, self._stream, openai)) for _ in range(streams)
            ]
            try:
                yield self
            finally:
                self._ending = True
                await asyncio.gather(*asking)
                self._is_over = True
                await asyncio.gather(*working)

    async def _until_served(self, http: httpx.AsyncClient) -> None:
        """Returns when the workers are known, so that clients may ask."""
        async with asyncio.timeout(_SERVED_WITHIN_SECONDS):
            while MODEL not in (await http.get("/status/models", params={"type": "text"})).text:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.2)
        await asyncio.sleep(_KNOWN_SECONDS)

    async def _again(self, is_over: Callable[[], bool], act: Callable[..., Awaitable[None]], *given: Any) -> None:
        started = time.monotonic()
        while not is_over():
            try:
                await act(*given)
            except Exception as failure:  # noqa: BLE001 - every one is what the test is about
                self.failures.append(f"{time.monotonic() - started:.2f} s, {act.__name__}: {failure!r}")
                await asyncio.sleep(_PAUSE_SECONDS)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _ask(self, http: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
        """One call, made once. Raises Unexpected for any answer but success, and httpx's errors."""
        answer = await http.request(method, path, json=body)
        if not answer.is_success:
            raise Unexpected(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        self.done[f"{method} {path.partition('/status/')[0]}"] += 1
        return answer.json()

    async def _submit_and_wait(self, http: httpx.AsyncClient) -> None:
        body = {"model": MODEL, "messages": [{"role": "user", "content": "Say it."}], "max_tokens": 32}
        accepted = await self._ask(http, "POST", "/generate/chat/async", body)
        ends_at = time.monotonic() + _SERVED_WITHIN_SECONDS
        while time.monotonic() < ends_at:
            status = await self._ask(http, "GET", f"/generate/chat/status/{accepted['id']}")
            if status["done"]:
                (generation,) = status["generations"]
                if generation["message"]["content"] != REPLY:
                    raise Unexpected(f"not the reply: {generation}")
                self.done["replies"] += 1
                return
            if status["faulted"]:
                raise Unexpected(f"faulted: {status}")
            await asyncio.sleep(0.1)
        raise Unexpected(f"{accepted['id']} was not served within {_SERVED_WITHIN_SECONDS} s")

    async def _stream(self, openai: AsyncOpenAI) -> None:
        told = await openai.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "Say it."}], max_tokens=32, stream=True
        )
        text, reason = "", None
        async for chunk in told:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                reason = choice.finish_reason or reason
        if text != REPLY or reason != "stop":
            raise Unexpected(f"the stream said {text!r} and ended with {reason}")
        self.done["streams"] += 1

    async def _work(self, http: httpx.AsyncClient, number: int) -> None:
        declared = {
            "name": f"steady worker {number}",
            "models": [MODEL],
            "chat_jobs": True,
            "model_id": MODEL,
            "chat_limits": {"max_context_length": 4096, "max_length": 512},
            "chat_features": ["prompt_overflow_refused"],
            # every other one waits for its job
            "wait_seconds": 5 * (number % 2),
        }
        popped = await self._ask(http, "POST", "/generate/text/pop", declared)
        if popped["id"] is None:
            return
        if popped["payload"].get("stream_progress"):
            for seq, word in enumerate(REPLY.split(" "), start=1):
                delta = {"content": word if seq == 1 else f" {word}"}
                post = {"id": popped["id"], "seq": seq, "delta": delta}
                await self._ask(http, "POST", "/generate/text/progress", post)
                await asyncio.sleep(0.05)
        reply = {
            "id": popped["id"],
            "model_id": MODEL,
            "message": {"role": "assistant", "content": REPLY},
            "finish_reason": "stop",
        }
        await self._ask(http, "POST", "/generate/text/submit", reply)
