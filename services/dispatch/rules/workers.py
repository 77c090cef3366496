"""Workers as dispatch knows them: who may have one, when a check-in is written, what its uptime earns."""

import re
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from horde.contract import pricing, reasons
from horde.contract.api_keys import ANONYMOUS_ID
from horde.contract.profanity import is_profane
from horde.contract.refusal import Refusal
from services.dispatch.rules.declaration import ChatDeclaration, Declaration

_RENTED = re.compile(r"colab|tpu|google", re.IGNORECASE)

_UNTRUSTED_WORKERS = 3
_TRUSTED_WORKERS = 20
"""Workers of one account. Decision 19."""

_REWARD_EVERY = 600
"""Seconds of uptime between rewards. base-domain 4.5."""

TEXT_WORKER = "text_worker"


@dataclass(frozen=True, slots=True)
class Account:
    """The account whose key a worker uses, and the modes of the horde at the same moment."""

    id: int
    api_key_hash: str
    trusted: bool
    flagged: bool
    deleted: bool
    worker_invited: int
    invite_only: bool


@dataclass(frozen=True, slots=True)
class Worker:
    """A stored worker."""

    id: uuid.UUID
    worker_type: str
    user_id: int
    created: datetime
    last_check_in: datetime
    uptime: int
    last_reward_uptime: int
    paused: bool
    maintenance: bool
    maintenance_msg: str | None
    # tokens per second; None until the first jobs were measured
    speed: float | None
    chat: ChatDeclaration


@dataclass(frozen=True, slots=True)
class CheckIn:
    """A check-in that has to be written. The reward is in hundredths of a kudo."""

    uptime: int
    last_reward_uptime: int
    reward: int


@dataclass(frozen=True, slots=True)
class OwnedWorkers:
    """How many workers an account has, and how many of them at one address."""

    total: int
    same_address: int


def refuse_account(account: Account) -> None:
    """Raises Refusal for an account that may not run workers. base-domain 4.2."""
    if account.deleted:
        raise Refusal(reasons.DELETED_USER, "This account is marked for deletion and may not run workers.")
    if account.flagged:
        raise Refusal(
            reasons.WORKER_FLAGGED_MAINTENANCE,
            "This account is flagged, so its workers are in maintenance; ask a moderator.",
        )
    if account.id == ANONYMOUS_ID:
        raise Refusal(reasons.ANON_FORBIDDEN_WORKER, "The anonymous account may not run workers; register for a key.")


def refuse_foreign_models(account: Account, models: tuple[str, ...]) -> None:
    """Raises Refusal BadRequest for `name::alias#id` of somebody else. base-domain 4.1."""
    for model in models:
        _, marked, host = model.partition("::")
        if marked and host.rpartition("#")[2] != str(account.id):
            raise Refusal(reasons.BAD_REQUEST, f"The model {model!r} is hosted by somebody else.")


def refuse_stranger(account: Account, worker: Worker) -> None:
    """Raises Refusal when the name belongs to another kind of worker, or to another account's."""
    if worker.worker_type != TEXT_WORKER:
        raise Refusal(reasons.POLYMORPHIC_NAME_CONFLICT, "A worker of another kind has this name already.")
    if worker.user_id != account.id:
        raise Refusal(reasons.WRONG_CREDENTIALS, "This worker belongs to another account.")


def refuse_rented_name(name: str) -> None:
    """Raises Refusal BadRequest for a name that tells of a rented machine. base-domain 4.3."""
    if _RENTED.search(name):
        raise Refusal(reasons.BAD_REQUEST, "A worker's name may not hold colab, tpu or google.")


def refuse_profane_name(name: str) -> None:
    """Raises Refusal ProfaneWorkerName. base-domain 4.3."""
    if is_profane(name):
        raise Refusal(reasons.PROFANE_WORKER_NAME, "The worker's name holds a word that is not wanted here.")


def refuse_new_worker(account: Account, name: str, bridge_agent: str, owned: OwnedWorkers) -> None:
    """Raises Refusal when the account may not have one more worker of this name. base-domain 4.3, decision 19."""
    refuse_rented_name(name)
    refuse_profane_name(name)
    if is_profane(bridge_agent):
        raise Refusal(reasons.PROFANE_BRIDGE_AGENT, "The bridge agent holds a word that is not wanted here.")
    if account.invite_only and owned.total >= account.worker_invited:
        raise Refusal(reasons.WORKER_INVITE_ONLY, "New workers need an invitation for now; ask a moderator.")
    most = _TRUSTED_WORKERS if account.trusted else _UNTRUSTED_WORKERS
    if not account.trusted and owned.total >= most:
        raise Refusal(reasons.TOO_MANY_WORKERS, f"An account that is not trusted yet may have {most} workers.")
    if owned.total >= max(most, account.worker_invited):
        raise Refusal(
            reasons.TOO_MANY_WORKERS_TRUSTED, f"This account may have {max(most, account.worker_invited)} workers."
        )
    if owned.same_address >= max(most, account.worker_invited):
        raise Refusal(reasons.TOO_MANY_SAME_IPS, f"One address may have {most} workers of an account.")


def newborn(worker_id: uuid.UUID, account: Account, declaration: Declaration, now: datetime) -> Worker:
    """A worker as it is when its first pop registered it."""
    return Worker(
        id=worker_id,
        worker_type=TEXT_WORKER,
        user_id=account.id,
        created=now,
        last_check_in=now,
        uptime=0,
        last_reward_uptime=0,
        paused=False,
        maintenance=False,
        maintenance_msg=None,
        speed=None,
        chat=declaration.chat,
    )


def check_in(
    worker: Worker,
    declaration: Declaration,
    now: datetime,
    *,
    every: timedelta,
    online: timedelta,
    multiplier: float | None,
) -> CheckIn | None:
    """The check-in that is due, or None inside the window in which only the chat declaration is written.

    `multiplier` is the first model's billions of parameters, None when it is unknown.
    """
    since = now - worker.last_check_in
    if since < every and now - worker.created > every:
        return None
    counts = since <= online and not worker.paused and not worker.maintenance
    uptime = worker.uptime + (round(since.total_seconds()) if counts else 0)
    if not counts:
        return CheckIn(uptime, uptime, 0)
    if uptime - worker.last_reward_uptime <= _REWARD_EVERY:
        return CheckIn(uptime, worker.last_reward_uptime, 0)
    return CheckIn(uptime, uptime, uptime_reward(declaration, multiplier))


def uptime_reward(declaration: Declaration, multiplier: float | None) -> int:
    """What ten minutes of uptime earn, in hundredths. base-domain 4.9."""
    base = 25 + 15 * min(max(declaration.max_context_length, 0), 262_144) / 1024
    if multiplier is None:
        return pricing.hundredths(base * 0.5)
    validated = 1.0 if declaration.validated_backend else 0.3
    return pricing.hundredths(base * validated * max(multiplier / 7, 0.25))
