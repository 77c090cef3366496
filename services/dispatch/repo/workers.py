"""Workers in Postgres: who pops, and what is written of it."""

import uuid
from collections import Counter
from dataclasses import astuple
from datetime import datetime

from horde.store import Record
from services.dispatch.repo import QUERIES, Access
from services.dispatch.repo.queue import sought, text_lanes
from services.dispatch.repo.worker_details import chat_declaration
from services.dispatch.rules.declaration import ChatDeclaration, Declaration
from services.dispatch.rules.jobs import Candidate, Candidates
from services.dispatch.rules.matching import Fit
from services.dispatch.rules.workers import Account, CheckIn, OwnedWorkers, Worker

_READ_POPPER = QUERIES["read_popper"]
_LOOK = QUERIES["look"]
_LOOK_IDLE = QUERIES["look_idle"]
_READ_VPN_STANDING = QUERIES["read_vpn_standing"]
_COUNT_OWNED_WORKERS = QUERIES["count_owned_workers"]
_REGISTER_WORKER = QUERIES["register_worker"]
_WRITE_CHECK_IN = QUERIES["write_check_in"]
_WRITE_CHAT_DECLARATION = QUERIES["write_chat_declaration"]
_REFRESH_WORKER_SPEEDS = QUERIES["refresh_worker_speeds"]
_FORGET_OLD_SAMPLES = QUERIES["forget_old_samples"]

_ADDRESS_LENGTH = 39
"""What the column holds: the longest IPv6 address."""


type Popper = tuple[Account, Worker | None]
"""The account of a key and the worker of a name; None for a new name."""


async def read_popper(store: Access, key_hash: str, name: str) -> Popper | None:
    """Who pops; None: the key is unknown."""
    row = await store.fetchrow(_READ_POPPER, key_hash, name)
    return None if row is None else _popper(row)


async def look(
    store: Access, key_hash: str, name: str, *, worker_id: uuid.UUID, fit: Fit, now: datetime, depth: int
) -> tuple[Popper, Candidates] | None:
    """Who pops, and what waits for a worker that fits like this, in one read; None: the key is unknown."""
    rows = await store.fetch(_LOOK, *sought(worker_id, fit, now, depth), key_hash, name)
    if rows[0]["account_id"] is None:
        return None
    found = rows[1:]
    candidates = Candidates(
        fitting=[
            Candidate(
                request_id=row["candidate_id"],
                user_id=row["candidate_user"],
                is_chat=row["candidate_is_chat"],
                models=row["candidate_models"],
                is_single=row["candidate_single"],
            )
            for row in found
            if row["candidate_id"] is not None and row["candidate_skip"] is None
        ],
        skipped=Counter(row["candidate_skip"] for row in found if row["candidate_skip"] is not None),
        exhausted=found[0]["exhausted"],
    )
    return _popper(rows[0]), candidates


async def look_idle(
    store: Access, key_hash: str, name: str, *, worker_id: uuid.UUID, fit: Fit
) -> tuple[Popper, bool] | None:
    """Who pops, and whether nothing waits that could fit a worker like this; None: the key is unknown."""
    row = await store.fetchrow(_LOOK_IDLE, *idle_sought(worker_id, fit), key_hash, name)
    return None if row is None else (_popper(row), row["nothing_fits"])


def idle_sought(worker_id: uuid.UUID, fit: Fit) -> tuple[object, ...]:
    """What dispatch.nothing_fits_v1 is asked with, as of a trusted worker: a yes denies also what trust would give."""
    return (
        worker_id,
        fit.chat_model,
        fit.features,
        fit.image_transport is not None,
        fit.chat_length,
        fit.chat_context,
        text_lanes(fit),
        fit.text_length,
        fit.text_context,
        True,
        fit.validated,
        fit.speed,
    )


async def read_vpn_standing(store: Access, account: int) -> tuple[bool, bool]:
    """Whether an account may use a VPN, and whether the horde is in raid mode."""
    row = await store.fetchrow(_READ_VPN_STANDING, account)
    return (False, False) if row is None else (row["vpn"], row["raid"])


async def count_owned(store: Access, owner: int, address: str) -> OwnedWorkers:
    """Counts an account's workers; inside a transaction nobody else registers one for it until the commit."""
    row = await store.fetchrow(_COUNT_OWNED_WORKERS, owner, address[:_ADDRESS_LENGTH])
    return OwnedWorkers(row["total"], row["same_address"]) if row is not None else OwnedWorkers(0, 0)


async def register(
    store: Access, worker_id: uuid.UUID, owner: int, address: str, declared: Declaration, now: datetime
) -> None:
    """Writes a new worker. Raises UniqueViolation when somebody took the name a moment ago."""
    await store.execute(
        _REGISTER_WORKER, worker_id, owner, declared.name, address[:_ADDRESS_LENGTH], now, *_declared(declared)
    )


async def write_check_in(
    store: Access, worker: Worker, address: str, declared: Declaration, now: datetime, due: CheckIn
) -> None:
    """Writes a due check-in and pays its reward. A check-in that another pop wrote first is left as it is."""
    counted = (due.uptime, due.last_reward_uptime, due.reward)
    await store.fetchval(
        _WRITE_CHECK_IN, worker.id, worker.last_check_in, address[:_ADDRESS_LENGTH], now, *_declared(declared), *counted
    )


async def write_chat_declaration(store: Access, worker: Worker, chat: ChatDeclaration) -> None:
    """Writes the chat declaration alone."""
    await store.execute(_WRITE_CHAT_DECLARATION, worker.id, *_chat(chat))


async def refresh_speeds(store: Access, since: datetime, newest: int) -> int:
    """Measures the workers with samples after `since` by their newest samples; how many changed."""
    return await store.execute(_REFRESH_WORKER_SPEEDS, since, newest)


async def forget_old_samples(store: Access, newest: int, since: datetime) -> None:
    """Removes samples that nothing reads any more."""
    await store.execute(_FORGET_OLD_SAMPLES, newest, since)


def _declared(declared: Declaration) -> tuple[object, ...]:
    """The declaration as both statements take it: from the bridge agent to the image transports."""
    return (
        declared.bridge_agent,
        declared.validated_backend,
        declared.threads,
        declared.models,
        declared.nsfw,
        declared.max_length,
        declared.max_context_length,
        declared.softprompts,
        *_chat(declared.chat),
    )


def _chat(chat: ChatDeclaration) -> tuple[object, ...]:
    return astuple(chat)


def _popper(row: Record) -> Popper:
    account = Account(
        id=row["account_id"],
        api_key_hash=row["key_hash"],
        trusted=row["trusted"],
        flagged=row["flagged"],
        deleted=row["deleted"],
        worker_invited=row["worker_invited"],
        invite_only=row["invite_only"],
    )
    return account, None if row["worker_id"] is None else _worker(row)


def _worker(row: Record) -> Worker:
    return Worker(
        id=row["worker_id"],
        worker_type=row["worker_type"],
        user_id=row["user_id"],
        created=row["created"],
        last_check_in=row["last_check_in"],
        uptime=row["uptime"],
        last_reward_uptime=row["last_reward_uptime"],
        paused=row["paused"],
        maintenance=row["maintenance"],
        maintenance_msg=row["maintenance_msg"],
        speed=row["speed"],
        chat=chat_declaration(row),
    )
