"""Which jobs fit a worker: the worker as the queue query sees it, and the choices made for a job it gets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.dispatch.rules.declaration import Declaration
from services.dispatch.rules.workers import Account, Worker

UNMEASURED_TOKENS_PER_SECOND = 10.0
"""What a worker without a measured speed is taken to do against a lease. Chat reference, Job lease."""

_BASELINE_TOKENS_PER_SECOND = 1.0
"""What it is taken to do against `slow_workers: false`. Decision R7."""

MESSAGES_TRANSPORT = "messages_url"
"""How a worker may receive offloaded messages, images included. Chat reference, Messages offload."""

IMAGE_TRANSPORTS = ("url", "base64")
"""How a worker may receive an image, the preferred way first. Chat reference, Images."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A worker as the queue query matches it. Lengths are in tokens, speed in tokens per second."""

    priority_users: tuple[int, ...]
    # a worker in maintenance serves its owner alone
    owner_only: bool
    # None: takes no chat jobs
    chat_model: str | None
    features: tuple[str, ...]
    image_transport: str | None
    chat_length: int
    chat_context: int
    tools_max_temperature: float | None
    # empty: takes no text jobs
    text_models: tuple[str, ...]
    text_length: int
    text_context: int
    softprompts: tuple[str, ...]
    # None: not trusted, and asks what trust would give it
    trusted: bool | None
    validated: bool
    speed: float
    paused: bool
    # tokens it can make inside the base lease
    capacity: float
    fetches_messages: bool = False


def lease_capacity(speed: float | None, *, lease: float, preparation: float) -> float:
    """Tokens a worker can make inside the base lease of `lease` seconds after `preparation` seconds."""
    return (UNMEASURED_TOKENS_PER_SECOND if speed is None else speed) * max(lease - preparation, 0.0)


def fit(account: Account, worker: Worker, declared: Declaration, priority: Sequence[int], *, capacity: float) -> Fit:
    """The worker as it may be matched now, by what this very pop declares."""
    chat = declared.chat
    transport = next((way for way in IMAGE_TRANSPORTS if way in chat.image_transports), None)
    return Fit(
        priority_users=(account.id,) if worker.maintenance else tuple(dict.fromkeys((account.id, *priority))),
        owner_only=worker.maintenance,
        chat_model=chat.model_id if chat.accepts_chat_jobs else None,
        features=chat.features,
        image_transport=transport,
        chat_length=min(chat.max_length or 0, math.floor(capacity)),
        chat_context=chat.max_context_length or 0,
        tools_max_temperature=chat.tools_max_temperature,
        text_models=declared.models if chat.accepts_prompt_jobs else (),
        text_length=declared.max_length,
        text_context=declared.max_context_length,
        softprompts=declared.softprompts,
        trusted=account.trusted,
        validated=declared.validated_backend,
        speed=_BASELINE_TOKENS_PER_SECOND if worker.speed is None else worker.speed,
        paused=worker.paused,
        capacity=capacity,
        fetches_messages=MESSAGES_TRANSPORT in chat.image_transports,
    )


def is_capacity_limited(worker: Worker, declared: Declaration, capacity: float) -> bool:
    """Whether a measured speed caps the chat output below the declared length. For a metric of the chat reference."""
    chat = declared.chat
    return worker.speed is not None and chat.accepts_chat_jobs and capacity < (chat.max_length or 0)


def served_model(fit: Fit, *, is_chat: bool, wanted: Sequence[str], pick: Callable[[Sequence[str]], str]) -> str:
    """The model a job is handed out for: the chat worker's own, or one `pick`ed of those both sides name."""
    if is_chat and fit.chat_model is not None:
        return fit.chat_model
    shared = [model for model in fit.text_models if model in wanted] if wanted else fit.text_models
    return pick(shared)
