"""The horde as a worker sees it: pop, progress, submit, and what each answer means."""

import asyncio
import random
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from typing import Any

import httpx

from horde.cli.worker.options import WorkerOptions, api_root
from horde.failures import StartError

_SECONDS = 30.0
WAIT_SECONDS = 20
"""How long a pop waits for a job, where the horde lets it: under the minute after which proxies end a silent call."""

_SUBMIT_TRIES = 12
_LONGEST_PAUSE = 10.0
"""Twelve tries with growing pauses are about a minute: a reply outlives a restart of the horde."""

_OK, _BAD_REQUEST, _TOO_MANY, _SERVER = 200, 400, 429, 500
KEPT_SECONDS = 3.0
"""How long an idle connection is kept: less than the 5 s after which common servers hang up, so that none is used just
as it ends."""

AGENT = f"chat-horde-worker:{version('chat-horde')}:chat-horde"


class HordeAway(Exception):
    """The horde cannot be reached, or asks for patience. `retry_after` in seconds when it said how long."""

    def __init__(self, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class Told(StrEnum):
    """What a progress post learned."""

    GO_ON = "go on"
    STOP_POSTING = "stop posting"
    STOP_GENERATING = "stop generating"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a submit. `is_refused`: the reply itself was refused, so the job must be faulted."""

    is_taken: bool
    is_refused: bool = False
    detail: str = ""
    reward: float = 0.0


class Gateway:
    """One horde, for one worker."""

    def __init__(self, options: WorkerOptions) -> None:
        self._http = httpx.AsyncClient(
            base_url=api_root(options.url),
            headers={"apikey": options.api_key, "client-agent": AGENT},
            timeout=_SECONDS,
            limits=httpx.Limits(max_connections=None, keepalive_expiry=KEPT_SECONDS),
            trust_env=False,
        )

    async def close(self) -> None:
        """Ends the connections."""
        await self._http.aclose()

    async def pop(self, body: dict[str, Any]) -> dict[str, Any] | None:
        """A job, or None when none came while it waited.

        Raises HordeAway; StartError when the horde will never give this worker a job.
        """
        waits = {"wait_seconds": WAIT_SECONDS}
        response = await self._post("/generate/text/pop", body | waits, seconds=_SECONDS + WAIT_SECONDS)
        answer = _json(response)
        if response.status_code == _OK:
            return answer if answer.get("id") else None
        said = _said(response, answer)
        # 403 may end by itself: maintenance, a pause, an address that is blocked for an hour.
        if response.status_code == httpx.codes.FORBIDDEN:
            raise HordeAway(f"the horde gives no job: {said}", _LONGEST_PAUSE)
        raise StartError(f"the horde refuses this worker: {said}")

    async def progress(self, job_id: str, seq: int, content: str, reasoning: str) -> Told:
        """One post. Raises HordeAway: send the same post again."""
        delta = {"content": content} | ({"reasoning_content": reasoning} if reasoning else {})
        response = await self._post("/generate/text/progress", {"id": job_id, "seq": seq, "delta": delta})
        answer = _json(response)
        if response.status_code == _OK:
            return Told.STOP_GENERATING if answer.get("cancelled") else Told.GO_ON
        if answer.get("rc") == "ChatJobAborted":
            return Told.STOP_GENERATING
        return Told.STOP_POSTING

    async def submit(self, body: dict[str, Any]) -> Submitted:
        """Hands a reply or a fault in, however often it takes. Never raises HordeAway: `is_taken` False after all."""
        for number in range(_SUBMIT_TRIES):
            try:
                response = await self._post("/generate/text/submit", body)
            except HordeAway as away:
                if number + 1 == _SUBMIT_TRIES:
                    return Submitted(is_taken=False, detail=str(away))
                await asyncio.sleep(away.retry_after or jittered(min(_LONGEST_PAUSE, 0.25 * 2**number)))
                continue
            answer = _json(response)
            if response.status_code == _OK:
                return Submitted(is_taken=True, reward=float(answer.get("reward") or 0.0))
            said = _said(response, answer)
            # The answer to an earlier try was lost: the horde has the reply.
            if number > 0 and "already submitted" in said:
                return Submitted(is_taken=True)
            is_gone = answer.get("rc") in {"AbortedGen", "DuplicateGen"}
            return Submitted(
                is_taken=False, is_refused=response.status_code == _BAD_REQUEST and not is_gone, detail=said
            )
        raise AssertionError("the last try returns")

    async def _post(self, path: str, body: dict[str, Any], seconds: float = _SECONDS) -> httpx.Response:
        try:
            response = await self._http.post(path, json=body, timeout=seconds)
        except httpx.HTTPError as error:
            raise HordeAway(f"the horde cannot be reached ({type(error).__name__})") from error
        if response.status_code == _TOO_MANY:
            raise HordeAway("the horde asks for patience (429)", _seconds(response.headers.get("retry-after")) or 1.0)
        if response.status_code >= _SERVER:
            retry_after = _seconds(response.headers.get("retry-after"))
            raise HordeAway(f"the horde answers {response.status_code}", retry_after)
        return response


def jittered(seconds: float) -> float:
    """Between half of it and all of it, so that workers do not come back in step."""
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing


def _json(response: httpx.Response) -> dict[str, Any]:
    try:
        answer = response.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _said(response: httpx.Response, answer: dict[str, Any]) -> str:
    return f"{response.status_code} {answer.get('rc') or ''} {answer.get('message') or response.text[:200]}".strip()


def _seconds(header: str | None) -> float | None:
    try:
        return min(max(float(header), 0.0), 60.0) if header is not None else None
    except ValueError:
        return None
