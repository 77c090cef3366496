"""Statements about what became of a generation: its reply, its fault, its cancel, its lease."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from horde.store import Record, Store, Transaction
from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.status import GenerationState
from services.dispatch.rules.submission import Pay, Reply, Target

_READ_TARGET = QUERIES["read_reply_target"]
_STORE_RESULT = QUERIES["store_result"]
_RECORD_REFUSAL = QUERIES["record_refusal"]
_RECORD_WORKER_FAULT = QUERIES["record_worker_fault"]
_FAULT = QUERIES["fault_generation"]
_RENEW = QUERIES["renew_lease"]
_STATE = QUERIES["read_generation_state"]
_LOCK = QUERIES["lock_request"]
_CLAIM_CANCEL = QUERIES["claim_cancel"]
_RUNNING = QUERIES["list_running"]
_SETTLE = QUERIES["settle_cancelled"]
_CONCLUDE = QUERIES["conclude"]


def as_id(text: str) -> UUID | None:
    """The id that a client wrote; None for anything else, which names nothing."""
    try:
        return UUID(text)
    except ValueError:
        return None


async def read_target(store: Store, generation_id: str, key_hash: str) -> Target | None:
    """The generation with everything its submit depends on; None when it is not stored."""
    wanted = as_id(generation_id)
    row = None if wanted is None else await store.fetchrow(_READ_TARGET, wanted, key_hash)
    if wanted is None or row is None:
        return None
    return Target(
        id=wanted,
        request_id=row["request_id"],
        model=row["model"],
        start_time=row["start_time"],
        job_ttl=row["job_ttl"],
        worker_trusted=row["worker_trusted"],
        streamed=row["streamed"],
        fake=row["fake"],
        faulted=row["faulted"],
        finished=row["finished"],
        assigned_model=row["assigned_model"],
        over_capacity=row["over_capacity_at_assignment"],
        is_chat=row["is_chat"],
        max_length=row["max_length"],
        prompt_characters=row["prompt_characters"],
        extras=json.loads(row["chat_extras"]) if row["chat_extras"] else {},
        strict=row["strict"],
        targeted=row["targeted"],
        webhook=row["webhook"],
        worker_id=row["worker_id"],
        worker_name=row["worker_name"],
        owner_id=row["owner_id"],
        bridge_agent=row["bridge_agent"],
        validated_backend=row["validated_backend"],
        maintenance=row["maintenance"],
        caller_id=row["caller_id"],
        caller_trusted=row["caller_trusted"],
    )


@dataclass(frozen=True, slots=True)
class StoredResult:
    """`outcome`: stored, duplicate, aborted or gone.

    `finished`: the request's stored results; `done`: this one completed it.
    """

    outcome: str
    finished: int
    done: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What a reply counts as, in tokens, and its worker's speed with it, in tokens per second."""

    tokens: int
    tokens_per_second: float


async def store_result(
    store: Access, generation: UUID, reply: Reply, amounts: Pay, measured: Measured, *, now: datetime, ttl: timedelta
) -> StoredResult:
    """Claims, pays and completes in one statement and one commit."""
    columns: dict[str, object] = {"gen_metadata": reply.gen_metadata, "censored": reply.censored, "seed": reply.seed}
    message = None
    if reply.chat is not None:
        columns |= reply.chat.counts
        columns |= {
            "finish_reason": reply.chat.finish_reason,
            "native_finish_reason": reply.chat.native_finish_reason,
            "charge_basis": "output_estimate",
        }
        message = json.dumps(reply.chat.message())
    row = await store.fetchrow(
        _STORE_RESULT,
        generation,
        json.dumps(columns),
        reply.text,
        message,
        amounts.reward,
        amounts.charge,
        amounts.burn,
        measured.tokens_per_second,
        measured.tokens,
        now,
        ttl,
    )
    if row is None:
        raise AssertionError("store_result_v2 answers with one row")
    return StoredResult(row["outcome"], row["finished"] or 0, bool(row["done"]))


async def record_refusal(store: Store, generation: UUID, *, message: str, rc: str) -> None:
    """Keeps why a pending generation's reply was refused."""
    await store.execute(_RECORD_REFUSAL, generation, message, rc)


async def record_worker_fault(store: Store, generation: UUID, message: str) -> None:
    """Keeps why a worker gives a pending chat generation up."""
    await store.execute(_RECORD_WORKER_FAULT, generation, message)


@dataclass(frozen=True, slots=True)
class Fault:
    """`outcome`: faulted, ended or gone. `request_faulted`: this fault was one too many."""

    outcome: str
    request_id: UUID | None
    request_faulted: bool
    finished: int
    fault_reason: str | None
    fault_rc: str | None


async def fault_generation(store: Store, generation: UUID, *, limit: int, only_lapsed: bool, now: datetime) -> Fault:
    """Gives a generation up and lets its job wait again, in one statement and one commit."""
    row = await store.fetchrow(_FAULT, generation, limit, only_lapsed, now)
    if row is None:
        raise AssertionError("fault_generation_v2 answers with one row")
    return Fault(
        row["outcome"],
        row["request"],
        row["request_faulted"],
        row["finished"] or 0,
        row["fault_reason"],
        row["fault_rc"],
    )


async def renew_lease(store: Store, generation: UUID, job_ttl: int) -> bool:
    """Lets a lease end later; False when the generation is not pending."""
    return await store.execute(_RENEW, generation, job_ttl) > 0


async def read_generation_state(store: Store, generation: UUID) -> GenerationState | None:
    """None when it is not stored."""
    state: GenerationState | None = await store.fetchval(_STATE, generation)
    return state


async def lock(tx: Transaction, request: UUID) -> bool:
    """Keeps others from changing a request until the transaction ends; False when it is gone."""
    return await tx.fetchval(_LOCK, request) is not None


async def claim_cancel(tx: Transaction, request: UUID) -> bool:
    """Whether this is the cancel that counts; the request's row stays locked until the transaction ends."""
    return await lock(tx, request) and await tx.fetchval(_CLAIM_CANCEL, request) is not None


@dataclass(frozen=True, slots=True)
class Running:
    """A generation under way, with what settling it is priced by."""

    id: UUID
    model: str
    fake: bool
    streamed: bool
    max_length: int
    prompt_characters: int
    validated_backend: bool
    owner_trusted: bool
    targeted: bool


async def list_running(access: Access, request: UUID) -> list[Running]:
    """A request's generations under way, fake ones included."""
    return [_running(row) for row in await access.fetch(_RUNNING, request)]


def _running(row: Record) -> Running:
    return Running(
        id=row["id"],
        model=row["model"],
        fake=row["fake"],
        streamed=row["streamed"],
        max_length=row["max_length"],
        prompt_characters=row["prompt_characters"],
        validated_backend=row["validated_backend"],
        owner_trusted=row["trusted"],
        targeted=row["targeted"],
    )


async def settle_cancelled(
    tx: Transaction, generation: UUID, characters: int, amounts: Pay, *, now: datetime, ttl: timedelta
) -> bool:
    """Ends and pays a streamed generation at its cancel; False when it had ended."""
    settled: bool = await tx.fetchval(
        _SETTLE, generation, characters, amounts.reward, amounts.charge, amounts.burn, now, ttl
    )
    return settled


async def conclude(tx: Transaction, requests: list[UUID], now: datetime) -> dict[UUID, int]:
    """The stored results of each request; releases the holds of those of which nothing runs."""
    return {row["id"]: row["finished"] for row in await tx.fetch(_CONCLUDE, requests, now)}
