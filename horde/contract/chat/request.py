"""A parsed chat request: what the client asked for, checked in itself, nothing yet looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from horde.contract import limits

type Message = dict[str, Any]
type ContextFit = Literal["grow", "reject", "truncate_oldest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HordeOptions:
    """The `horde` object with its defaults filled in. Chat reference, Request body."""

    only: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    trusted_workers: bool = False
    validated_backends: bool = False
    slow_workers: bool = True
    max_context_length: int | None = None
    context_fit: ContextFit = "truncate_oldest"
    conformance: Literal["strict", "best_effort"] = "strict"
    openai_guards: bool = False
    include_reasoning: bool = True
    availability_mode: Literal["wait", "fail_fast"] = "wait"
    max_kudos: int | None = None
    dry_run: bool = False
    operation_key: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One chat request as stored: `developer` rewritten to `system`, images still under the URLs that were sent."""

    models: tuple[str, ...]
    # True when the client sent `models`, so that paths in messages name what it sent.
    is_model_list: bool
    messages: Sequence[Message]
    # The sampling values and `stop_sequence`, only those that were sent.
    sampling: Mapping[str, Any]
    max_length: int
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: str | Mapping[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: Mapping[str, Any] | None = None
    stream: bool = False
    horde: HordeOptions = HordeOptions()

    @property
    def requested_context(self) -> int:
        """Tokens of context the client asked for, or the default."""
        return self.horde.max_context_length or limits.DEFAULT_CONTEXT_LENGTH

    @property
    def jobs(self) -> int:
        """Generations asked for: always one."""
        return 1

    @property
    def slow_workers(self) -> bool:
        """Whether slow workers are welcome."""
        return self.horde.slow_workers

    @property
    def workers(self) -> tuple[str, ...]:
        """The worker ids the request names, to serve it or to stay away."""
        return self.horde.only or self.horde.ignore or ()

    def model_path(self, position: int) -> str:
        """How the client would find one of its models in its body."""
        return f"models[{position}]" if self.is_model_list else "model"
