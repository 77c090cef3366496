"""A chat worker in a test's own hands: it pops, posts and submits when the test says so."""

import secrets
import time
from dataclasses import dataclass
from typing import Any

import httpx

_POP_SECONDS = 60


@dataclass
class HandWorker:
    """A worker that does one step when it is told to."""

    url: str
    api_key: str
    model: str

    def __post_init__(self) -> None:
        self._name = f"by hand {secrets.token_hex(4)}"
        self._http = httpx.Client(base_url=f"{self.url}/api/v2", headers={"apikey": self.api_key}, timeout=30)

    def close(self) -> None:
        self._http.close()

    def pop(self, *, until_there_is_one: bool = True) -> dict[str, Any]:
        """A job, as soon as there is one."""
        body = {
            "name": self._name,
            "models": [self.model],
            "chat_jobs": True,
            "model_id": self.model,
            "chat_limits": {"max_context_length": 4096, "max_length": 512},
            "chat_features": ["prompt_overflow_refused"],
        }
        end = time.monotonic() + _POP_SECONDS
        while time.monotonic() < end:
            popped: dict[str, Any] = self._http.post("/generate/text/pop", json=body).json()
            if popped["id"] is not None or not until_there_is_one:
                return popped
            time.sleep(0.1)
        raise TimeoutError("no job came")

    def post(self, job: dict[str, Any], seq: int, content: str) -> httpx.Response:
        """One post, whatever comes of it."""
        body = {"id": job["id"], "seq": seq, "delta": {"content": content}}
        return self._http.post("/generate/text/progress", json=body)

    def submit(self, job: dict[str, Any], content: str) -> None:
        """The whole reply."""
        reply = {"model_id": self.model, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        self._http.post("/generate/text/submit", json={"id": job["id"], **reply}).raise_for_status()
