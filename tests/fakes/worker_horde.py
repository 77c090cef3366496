"""The worker's side of a horde: hands out the jobs of a test and keeps what comes back."""

import asyncio
import uuid
from collections import deque
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


def a_job(**changed: Any) -> dict[str, Any]:
    """A pop's answer with every key that is always there."""
    payload = {
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_length": 64,
        "max_context_length": 2048,
        "n": 1,
        "temperature": 1.0,
        "top_p": 1.0,
        "frequency_penalty": 0,
        "presence_penalty": 0,
        "rep_pen": 1.0,
        "top_k": 0,
        "min_p": 0,
    }
    job_id = str(uuid.uuid4())
    return {
        "id": job_id,
        "ids": [job_id],
        "model": "a model",
        "chat": True,
        "ttl": 150,
        "skipped": {},
        "payload": {**payload, **changed},
    }


class FakeHorde:
    """Answers of `…_answers` come first, then the usual ones. `submitted` is set with every submit."""

    def __init__(self) -> None:
        self.jobs: deque[dict[str, Any]] = deque()
        self.pops: list[dict[str, Any]] = []
        self.posts: list[dict[str, Any]] = []
        self.submits: list[dict[str, Any]] = []
        self.headers: dict[str, str] = {}
        self.pop_answers: deque[Response] = deque()
        self.post_answers: deque[Response] = deque()
        self.submit_answers: deque[Response] = deque()
        self.submitted = asyncio.Event()
        paths = {"pop": self._pop, "progress": self._progress, "submit": self._submit}
        self.app = Starlette(
            routes=[Route(f"/api/v2/generate/text/{path}", answer, methods=["POST"]) for path, answer in paths.items()]
        )

    async def _pop(self, request: Request) -> Response:
        self.pops.append(await request.json())
        self.headers = dict(request.headers)
        if self.pop_answers:
            return self.pop_answers.popleft()
        if self.jobs:
            return JSONResponse(self.jobs.popleft())
        return JSONResponse({"id": None, "ids": [], "model": None, "payload": {}, "skipped": {}})

    async def _progress(self, request: Request) -> Response:
        self.posts.append(await request.json())
        if self.post_answers:
            return self.post_answers.popleft()
        return JSONResponse({"accepted_seq": self.posts[-1]["seq"], "cancelled": False})

    async def _submit(self, request: Request) -> Response:
        self.submits.append(await request.json())
        answer = self.submit_answers.popleft() if self.submit_answers else JSONResponse({"reward": 1.5})
        if answer.status_code < 500:
            self.submitted.set()
        return answer
