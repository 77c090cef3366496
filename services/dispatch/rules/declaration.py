"""What a worker declares on a pop: read, checked and put into the form that is stored and matched."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from horde.contract import limits, reasons
from horde.contract.refusal import Refusal
from horde.contract.vocabulary import chat_declaration, chat_policy
from services.dispatch.rules import bridge_agents

_INT_MAX = 2**31 - 1
_SOFTPROMPTS = 200
_SOFTPROMPT_LENGTH = 100
"""base-domain 4.1."""

_PRIORITY_USERNAMES = 500
"""How many priority users one pop may name: each costs an index probe. Ours; upstream sets no bound."""


@dataclass(frozen=True, slots=True)
class ChatLimits:
    """The limits chat jobs run under, as sent."""

    max_context_length: int
    max_length: int
    tools_max_temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ChatAsk:
    """The chat fields of a pop, as sent."""

    chat_jobs: bool = False
    prompt_jobs: bool | None = None
    chat_features: Sequence[str] = ()
    chat_limits: ChatLimits | None = None
    model_id: str | None = None
    image_transports: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PopAsk:
    """A pop, as sent."""

    api_key: str
    address: str
    name: str
    models: Sequence[str]
    bridge_agent: str = bridge_agents.UNKNOWN
    threads: int = 1
    amount: int = 1
    max_length: int = 512
    max_context_length: int = 2048
    nsfw: bool = True
    softprompts: Sequence[str] = ()
    priority_usernames: Sequence[str] = ()
    chat: ChatAsk = ChatAsk()
    # how long to wait for a job when none fits now; decision 33
    wait_seconds: float = 0.0
    # by which the gateway can give back what the worker was never told of
    claim_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ChatDeclaration:
    """What is stored of a worker's chat offer at every pop; the defaults are a worker that withdrew it."""

    accepts_chat_jobs: bool = False
    accepts_prompt_jobs: bool = True
    features: tuple[str, ...] = ()
    max_context_length: int | None = None
    max_length: int | None = None
    model_id: str | None = None
    tools_max_temperature: float | None = None
    image_transports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """A pop's declaration, checked."""

    name: str
    models: tuple[str, ...]
    bridge_agent: str
    validated_backend: bool
    threads: int
    amount: int
    max_length: int
    max_context_length: int
    nsfw: bool
    softprompts: tuple[str, ...]
    chat: ChatDeclaration


def read_declaration(ask: PopAsk) -> Declaration:
    """Raises Refusal: NulByteInPayload, BadRequest, InvalidPriorityUsername, ChatDeclarationInvalid."""
    _refuse_nul(ask)
    if any("#" not in name for name in ask.priority_usernames):
        raise Refusal(
            reasons.INVALID_PRIORITY_USERNAME, "Each of priority_usernames must be an alias with its number: name#1."
        )
    name = clean(ask.name)[: limits.MAX_WORKER_NAME_LENGTH]
    if not name:
        raise Refusal(reasons.BAD_REQUEST, "A worker needs a name.")
    models = _models(ask.models)
    agent = clean(ask.bridge_agent or bridge_agents.UNKNOWN)[: limits.MAX_BRIDGE_AGENT_LENGTH]
    return Declaration(
        name=name,
        models=models,
        bridge_agent=agent,
        validated_backend=bridge_agents.is_validated(agent),
        threads=min(max(ask.threads, 1), limits.MAX_WORKER_THREADS),
        amount=min(max(ask.amount, 1), limits.MAX_JOBS_PER_POP),
        max_length=_integer(ask.max_length),
        max_context_length=_integer(ask.max_context_length),
        nsfw=ask.nsfw,
        softprompts=tuple(prompt[:_SOFTPROMPT_LENGTH] for prompt in ask.softprompts[:_SOFTPROMPTS]),
        chat=_chat(ask.chat, models),
    )


def priority_ids(names: Sequence[str]) -> tuple[int, ...]:
    """The account numbers of `alias#id` entries. Raises Refusal InvalidPriorityUsername for one without a number."""
    found = []
    for name in names[:_PRIORITY_USERNAMES]:
        number = name.rpartition("#")[2]
        if not (number.isascii() and number.isdecimal()):
            raise Refusal(
                reasons.INVALID_PRIORITY_USERNAME, f"{name!r} in priority_usernames has no account number after the #."
            )
        if (known := int(number)) <= _INT_MAX:
            found.append(known)
    return tuple(dict.fromkeys(found))


def clean(text: str) -> str:
    """Without markup, as it may be shown in a page."""
    return html.escape(text, quote=False).strip()


def _models(models: Sequence[str]) -> tuple[str, ...]:
    if not models:
        raise Refusal(reasons.BAD_REQUEST, "A worker must name at least one model it serves.")
    if any(not model or len(model) > limits.MAX_MODEL_LENGTH for model in models):
        raise Refusal(reasons.BAD_REQUEST, f"A model's name has 1 to {limits.MAX_MODEL_LENGTH} characters.")
    return tuple(dict.fromkeys(models))[: limits.MAX_WORKER_MODELS]


def _chat(chat: ChatAsk, models: Sequence[str]) -> ChatDeclaration:
    if not chat.chat_jobs:
        if chat.prompt_jobs is False:
            raise _invalid(
                "A worker that refuses text jobs has to accept chat jobs: prompt_jobs is false, chat_jobs is not true."
            )
        return ChatDeclaration()
    if chat.chat_limits is None:
        raise _invalid("chat_jobs needs chat_limits.")
    if not chat.model_id:
        raise _invalid("chat_jobs needs model_id.")
    if chat.model_id not in models:
        raise _invalid("model_id must be one of models.")
    temperature = chat.chat_limits.tools_max_temperature
    if temperature is not None and not temperature >= 0:
        raise _invalid("chat_limits.tools_max_temperature must not be negative.")
    known = (chat_policy.parse_chat_declaration(feature) for feature in chat.chat_features)
    return ChatDeclaration(
        accepts_chat_jobs=True,
        accepts_prompt_jobs=chat.prompt_jobs is not False,
        features=tuple(sorted({feature.value for feature in known if feature is not None})),
        max_context_length=_integer(chat.chat_limits.max_context_length),
        max_length=_integer(chat.chat_limits.max_length),
        model_id=chat.model_id,
        tools_max_temperature=temperature,
        image_transports=tuple(sorted(_TRANSPORTS.intersection(chat.image_transports))),
    )


_TRANSPORTS = frozenset(transport.value for transport in chat_declaration.ChatImageTransport)


def _invalid(message: str) -> Refusal:
    return Refusal(reasons.CHAT_DECLARATION_INVALID, message)


def _refuse_nul(ask: PopAsk) -> None:
    chat = ask.chat
    texts = (ask.name, ask.bridge_agent, *ask.models, *ask.softprompts, *ask.priority_usernames, chat.model_id or "")
    if any("\0" in text for text in texts):
        raise Refusal(reasons.NUL_BYTE_IN_PAYLOAD, "A text of the worker's declaration holds a NUL character.")


def _integer(number: int) -> int:
    """What a column can hold; upstream checks no range here."""
    return min(max(number, -_INT_MAX), _INT_MAX)
