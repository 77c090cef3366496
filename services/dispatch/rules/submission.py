"""A worker hands a job in or gives it up: who may, what it is worth, and how it is told that it came too late.

Sources: chat reference, Structured submit; base-domain 5.2, 5.4, 6.1; decision 23.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from horde.contract import pricing, reasons
from horde.contract.models import ModelReference
from horde.contract.refusal import Refusal
from services.dispatch.rules.reply import ChatReply, State


@dataclass(frozen=True, slots=True)
class ReplyAsk:
    """A reply as it was sent. `chat` says which of the two forms the body had."""

    api_key: str
    generation_id: str
    state: State
    chat: bool
    text: str | None
    # JSON values as sent; None when absent
    message: object
    has_message: bool
    finish_reason: str | None
    native_finish_reason: str | None
    counts: object
    model_id: str | None
    seed: int
    gen_metadata: object


@dataclass(frozen=True, slots=True)
class FaultAsk:
    """A job given up."""

    api_key: str
    generation_id: str
    fault_reason: str


@dataclass(frozen=True, slots=True)
class Target:
    """The generation that a submit names, with its request, its worker and the account that calls."""

    id: UUID
    request_id: UUID
    model: str
    start_time: datetime
    job_ttl: int
    worker_trusted: bool
    streamed: bool
    fake: bool
    faulted: bool
    finished: bool
    assigned_model: str | None
    over_capacity: bool
    is_chat: bool
    max_length: int
    prompt_characters: int
    extras: Mapping[str, object]
    strict: bool
    targeted: bool
    webhook: str | None
    worker_id: UUID
    worker_name: str
    owner_id: int
    bridge_agent: str
    validated_backend: bool
    maintenance: bool
    caller_id: int | None
    caller_trusted: bool


def owned(target: Target | None) -> Target:
    """The target, when its worker is the caller's. Raises Refusal(InvalidJobID, InvalidAPIKey, WrongCredentials)."""
    if target is None:
        raise unknown_job()
    if target.caller_id is None:
        raise Refusal(reasons.INVALID_API_KEY, "No account has this API key.")
    if target.caller_id != target.owner_id:
        raise Refusal(reasons.WRONG_CREDENTIALS, "This job was given to a worker of another account.")
    return target


def unknown_job() -> Refusal:
    """No such generation: it never was, or its request has expired and is gone."""
    return Refusal(reasons.INVALID_JOB_ID, "There is no job with this id; its request may have expired.")


def aborted(target: Target) -> Refusal:
    """The generation faulted before its reply came."""
    return Refusal(
        reasons.ABORTED_GEN,
        f"This job was aborted: its reply was due within {target.job_ttl} seconds of the pop, or its request was"
        " cancelled.",
        {"ttl": target.job_ttl},
    )


def duplicate(target: Target) -> int:
    """What a second reply earns: nothing, for a worker in maintenance. Raises Refusal(DuplicateGen) for any other."""
    if target.maintenance:
        return 0
    raise Refusal(reasons.DUPLICATE_GEN, "A reply to this job was already submitted.")


def check_form(ask: ReplyAsk, *, is_chat: bool) -> None:
    """A chat job takes a message, a text job a text. Raises Refusal(ChatSubmitInvalid)."""
    if is_chat and not ask.chat:
        raise Refusal(
            reasons.CHAT_SUBMIT_INVALID, "This is a chat job: it takes 'message', 'finish_reason' and 'model_id'."
        )
    if is_chat and ask.text is not None:
        raise Refusal(reasons.CHAT_SUBMIT_INVALID, "A chat submit takes 'message' and no 'generation' beside it.")
    if not is_chat and ask.has_message:
        raise Refusal(reasons.CHAT_SUBMIT_INVALID, "This is a text job: it takes 'generation' and no 'message'.")
    if not is_chat and ask.text is None:
        raise Refusal(reasons.CHAT_SUBMIT_INVALID, "This is a text job: it takes 'generation'.")


def check_model(ask: ReplyAsk, assigned: str | None) -> None:
    """Raises Refusal(ChatSubmitInvalid or ChatModelMismatch) unless the reply names the model it was assigned to."""
    if ask.model_id is None:
        raise Refusal(reasons.CHAT_SUBMIT_INVALID, "'model_id' is required.")
    if ask.model_id != assigned:
        raise Refusal(
            reasons.CHAT_MODEL_MISMATCH,
            f"'model_id' is '{ask.model_id[:255]}', but this job was assigned to the model '{assigned}'.",
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that is stored as it stands. `chat` is None for a text job."""

    text: str
    chat: ChatReply | None
    dropped_calls: int
    censored: bool
    gen_metadata: list[dict[str, object]] | None
    seed: int

    @property
    def characters(self) -> int:
        """What is charged and measured."""
        return len(self.text) if self.chat is None else self.chat.characters

    @property
    def is_csam(self) -> bool:
        """Its worker says so."""
        return any(entry.get("value") == "csam" for entry in self.gen_metadata or ())

    @property
    def is_empty(self) -> bool:
        """Nothing to show and no call to run."""
        return not self.text.strip() if self.chat is None else self.chat.is_empty


@dataclass(frozen=True, slots=True)
class Pay:
    """What one generation moves, in hundredths of a kudo."""

    reward: int
    charge: int
    burn: int = pricing.BURN


@dataclass(frozen=True, slots=True)
class Work:
    """What was done, as far as its price depends on it.

    `targeted`: for a request that named its workers, where that is flat.
    """

    model: str
    reply_characters: int
    prompt_characters: int
    max_length: int
    validated_backend: bool
    owner_trusted: bool
    targeted: bool


def pay(work: Work, reference: ModelReference, *, censored: bool = False) -> Pay:
    """What a generation earns and costs. A censored one is rewarded as any other and costs its burn alone."""
    reward = pricing.reward(
        reply_characters=work.reply_characters,
        prompt_characters=work.prompt_characters,
        max_length=work.max_length,
        multiplier=reference.multiplier(work.model),
        validated_backend=work.validated_backend,
        owner_trusted=work.owner_trusted,
        matched_targeting=work.targeted,
    )
    return Pay(reward, 0 if censored else reward)


def speed(tokens: int, seconds: float) -> float:
    """A worker's speed sample in tokens per second; less than a second counts as one. base-domain 4.10."""
    return round(tokens / max(seconds, 1.0), 1)
