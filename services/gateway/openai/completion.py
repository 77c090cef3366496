"""A reply in OpenAI's shape, whole. Contract: clients-and-front 3.4."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from services.gateway.openai.reply import Reply, Standing

_CHARACTERS_PER_TOKEN = 4
"""How tokens are estimated that a worker did not count."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What of the request its answer depends on. `created` in Unix seconds."""

    request_id: str
    created: int
    include_reasoning: bool
    prompt_characters: int

    @property
    def completion_id(self) -> str:
        """The id a client sees."""
        try:
            return f"chatcmpl-{UUID(self.request_id).hex}"
        except ValueError:
            return f"chatcmpl-{self.request_id}"


def system_fingerprint(worker_id: str, model: str) -> str:
    """Equal for replies of one worker with one model, streamed or not."""
    return f"fp_{hashlib.sha256(f'{worker_id}\0{model}'.encode()).hexdigest()[:10]}"


def completion(asked: Asked, reply: Reply, standing: Standing) -> dict[str, object]:
    """The `chat.completion` object."""
    return {
        "id": asked.completion_id,
        "object": "chat.completion",
        "created": asked.created,
        "model": reply.model,
        "system_fingerprint": system_fingerprint(reply.worker_id, reply.model),
        "choices": [
            {
                "index": 0,
                "message": _message(asked, reply),
                "logprobs": None,
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": usage(asked, reply),
        "horde": extension(asked, reply, standing),
    }


def _message(asked: Asked, reply: Reply) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": reply.content, "refusal": None}
    if reply.reasoning and asked.include_reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.get("id"), "type": "function", "function": called(call)} for call in reply.tool_calls
        ]
    elif reply.content is None:
        message["content"] = ""
    return message


def called(call: Mapping[str, object]) -> dict[str, str]:
    """A call's function. Empty arguments are an empty object: agents parse them."""
    function = call.get("function")
    told = function if isinstance(function, Mapping) else {}
    return {"name": str(told.get("name", "")), "arguments": str(told.get("arguments") or "{}")}


def usage(asked: Asked, reply: Reply) -> dict[str, object]:
    """Three integers always; hidden reasoning counts as well."""
    prompt = _tokens(asked.prompt_characters) if reply.prompt_tokens is None else reply.prompt_tokens
    told = reply.completion_tokens
    answered = _tokens(_reply_characters(reply)) if told is None else told
    counted: dict[str, object] = {
        "prompt_tokens": prompt,
        "completion_tokens": answered,
        "total_tokens": prompt + answered,
    }
    if reply.reasoning_tokens is not None:
        counted["completion_tokens_details"] = {"reasoning_tokens": reply.reasoning_tokens}
    return counted


def extension(asked: Asked, reply: Reply, standing: Standing) -> dict[str, object]:
    """What the horde tells beside OpenAI's keys. Kudos have at most two decimals."""
    kudos = standing.kudos_hundredths / 100
    told: dict[str, object] = {
        "request_id": asked.request_id,
        "kudos": int(kudos) if kudos.is_integer() else kudos,
        "worker": {"id": reply.worker_id, "name": reply.worker_name},
        "charge_basis": reply.charge_basis,
        "queue_wait_seconds": reply.queue_wait_seconds,
        "native_finish_reason": reply.native_finish_reason,
    }
    if standing.adjustments:
        told["adjustments"] = standing.adjustments
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        told["usage_estimated"] = True
    return told


def _tokens(characters: int) -> int:
    return math.ceil(characters / _CHARACTERS_PER_TOKEN)


def _reply_characters(reply: Reply) -> int:
    functions = [called(call) for call in reply.tool_calls]
    return (
        len(reply.content or "")
        + len(reply.reasoning or "")
        + sum(len(function["name"]) + len(function["arguments"]) for function in functions)
    )
