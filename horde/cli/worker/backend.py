"""The OpenAI-compatible server behind a worker: what it proves about itself, and its streamed replies."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx

from horde.cli.worker.options import WorkerOptions, backend_root
from horde.contract.limits import CHARACTERS_PER_PROMPT_TOKEN, CHAT_IMAGE_PROMPT_TOKENS
from horde.contract.vocabulary import chat_declaration

FaultReason = chat_declaration.ChatFaultReason

_PROBE_SECONDS = 5.0
_CONNECT_SECONDS = 10.0
_SILENCE_SECONDS = 300.0
"""The longest pause between two chunks. Reading a long prompt on a slow machine is silent; the horde ends the lease
first."""

KEPT_SECONDS = 3.0
"""How long an idle connection is kept: less than the 5 s after which common servers hang up."""

_OVERFLOW = ("context length", "context size", "context window", "context_length", "exceed_context", "too many tokens")
"""How servers say that a prompt does not fit: llama.cpp, vLLM and OpenAI itself, in type, code or message."""

_GRAMMAR = ("grammar", "schema", "parser", "response_format", "guided")


class BackendFailure(Exception):
    """The backend could not make a reply. `is_down`: it could not be reached at all, so others would fail too."""

    def __init__(self, reason: chat_declaration.ChatFaultReason, detail: str, *, is_down: bool = False) -> None:
        super().__init__(detail)
        self.reason = reason
        self.is_down = is_down


@dataclass(frozen=True, slots=True)
class Proven:
    """What the server said of itself. None: it did not say."""

    model: str | None
    context_length: int | None
    slots: int | None
    is_llama_cpp: bool
    reads_images: bool


class Backend:
    """One server."""

    def __init__(self, options: WorkerOptions) -> None:
        self._root = backend_root(options.backend)
        self._is_plain = options.is_plain_sampling
        headers = {"authorization": f"Bearer {options.backend_key}"} if options.backend_key else {}
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=None, keepalive_expiry=KEPT_SECONDS),
            trust_env=False,
        )

    async def close(self) -> None:
        """Ends the connections."""
        await self._http.aclose()

    async def probe(self) -> Proven:
        """What the server proves. Raises BackendFailure while it is down or still loading."""
        models = await self._get("/v1/models")
        if models is None:
            raise BackendFailure(
                FaultReason.GENERATION_ERROR,
                f"{self._root}/v1/models does not answer as an OpenAI server",
                is_down=True,
            )
        listed = [entry for entry in models.get("data") or () if isinstance(entry, dict)]
        first = listed[0] if listed else {}
        # llama.cpp's own page: only it knows the context of one slot, which is what a job gets.
        props = await self._get("/props") or {}
        settings = props.get("default_generation_settings")
        is_llama = isinstance(settings, dict)
        context = settings.get("n_ctx") if isinstance(settings, dict) else first.get("max_model_len")
        return Proven(
            model=first.get("id"),
            context_length=context if isinstance(context, int) and context > 0 else None,
            slots=props.get("total_slots") if is_llama else None,
            is_llama_cpp=is_llama,
            reads_images=bool((props.get("modalities") or {}).get("vision")) if is_llama else False,
        )

    async def generate(self, job: chat_declaration.ChatJobPayload, model: str) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of the reply. Raises BackendFailure, also for a stream that breaks off before its end."""
        body = request_body(job, model, is_plain=self._is_plain)
        try:
            async with self._http.stream("POST", f"{self._root}/v1/chat/completions", json=body) as response:
                if response.status_code != httpx.codes.OK:
                    raise failure(await response.aread(), job)
                is_whole = False
                async for data in events(response.aiter_bytes()):
                    if data == b"[DONE]":
                        return
                    chunk = json.loads(data)
                    if "error" in chunk:
                        raise failure(data, job)
                    is_whole = is_whole or any(choice.get("finish_reason") for choice in chunk.get("choices") or ())
                    yield chunk
                if not is_whole:
                    raise BackendFailure(FaultReason.GENERATION_ERROR, "the stream broke off")
        except httpx.HTTPError as error:
            is_down = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            raise BackendFailure(FaultReason.GENERATION_ERROR, _named(error), is_down=is_down) from error
        except (ValueError, AttributeError, TypeError) as error:
            raise BackendFailure(FaultReason.GENERATION_ERROR, f"not a chunk: {_named(error)}") from error

    async def _get(self, path: str) -> dict[str, Any] | None:
        """A JSON object; None when the server answers something else. Raises BackendFailure when it is down."""
        try:
            response = await self._http.get(f"{self._root}{path}", timeout=_PROBE_SECONDS)
            body = response.json() if response.status_code == httpx.codes.OK else None
        except httpx.HTTPError as error:
            raise BackendFailure(FaultReason.GENERATION_ERROR, _named(error), is_down=True) from error
        except ValueError:
            return None
        return body if isinstance(body, dict) else None


def request_body(job: chat_declaration.ChatJobPayload, model: str, *, is_plain: bool) -> dict[str, Any]:
    """The body for the backend: every sampling key is said, so none of its own defaults applies."""
    body: dict[str, Any] = {
        "model": model,
        "messages": list(job.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": job.max_length,
        "temperature": job.temperature,
        "top_p": job.top_p,
        "frequency_penalty": job.frequency_penalty,
        "presence_penalty": job.presence_penalty,
    }
    if not is_plain:
        # OpenAI has no words for these; llama.cpp and koboldcpp say repeat_penalty, vLLM repetition_penalty.
        body |= {"top_k": job.top_k, "min_p": job.min_p}
        body |= {"repeat_penalty": job.rep_pen, "repetition_penalty": job.rep_pen}
    given = {
        "stop": list(job.stop_sequence) if job.stop_sequence else None,
        "seed": job.seed,
        "reasoning_effort": job.reasoning_effort,
        "tools": list(job.tools) if job.tools else None,
        "tool_choice": job.tool_choice,
        "parallel_tool_calls": job.parallel_tool_calls,
        "response_format": job.response_format,
    }
    return body | {name: value for name, value in given.items() if value is not None}


def estimated_tokens(job: chat_declaration.ChatJobPayload) -> int:
    """Tokens the prompt is taken to have, by the horde's own estimate, for a backend that cuts prompts silently."""
    texts, images = 0, 0
    for message in job.messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        images += sum(part.get("type") == "image_url" for part in parts)
        texts += sum(len(part.get("text") or "") for part in parts)
        texts += len(json.dumps(message["tool_calls"])) if message.get("tool_calls") else 0
    texts += len(json.dumps(job.tools)) if job.tools else 0
    return texts // CHARACTERS_PER_PROMPT_TOKEN + images * CHAT_IMAGE_PROMPT_TOKENS


def failure(body: bytes, job: chat_declaration.ChatJobPayload) -> BackendFailure:
    """What an error of the backend means for the job."""
    try:
        error = json.loads(body)
        error = error.get("error", error)
    except (ValueError, AttributeError):
        error = body.decode("utf-8", "replace")
    said = json.dumps(error, ensure_ascii=False)[:300]
    words = said.lower()
    if any(word in words for word in _OVERFLOW):
        return BackendFailure(FaultReason.PROMPT_OVERFLOW, said)
    if (job.tools or job.response_format) and any(word in words for word in _GRAMMAR):
        return BackendFailure(FaultReason.UNBUILDABLE_GRAMMAR, said)
    return BackendFailure(FaultReason.GENERATION_ERROR, said)


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The data of server-sent events. Only a line feed ends a line: text may hold U+2028, where other splitters cut."""
    held = b""
    async for piece in pieces:
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line.removeprefix(b"data:").strip()
    if held.startswith(b"data:"):
        yield held.removeprefix(b"data:").strip()


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
