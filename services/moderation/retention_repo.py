"""Every statement of retention. What an event's update sets is made from the fate map when this module is loaded."""

import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import resources

from horde.contract.retention import RetentionPolicy
from horde.store import Query, Record, Store, queries
from horde.store.engine import Transaction
from services.moderation.rules import fates
from services.moderation.rules.fates import Step
from services.moderation.rules.preview import StepPreview

_SQL = queries("services.moderation")
_SHARED = queries("horde.store")
_PLACE = "/* fates */"


def _with_fates(name: str, step: Step) -> Query:
    """The statement of a file, setting what the fate map says of this step."""
    text = (resources.files("services.moderation") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    start = text.index(_PLACE)
    end = text.index("\n", start)
    return Query.parse(f"moderation.{name}", f"{text[:start]}{fates.assignments(step)}{text[end:]}")


@dataclass(frozen=True, slots=True)
class Statements:
    """How one step finds its batch and changes it."""

    pick: Query
    change: Query
    recheck: Query | None = None


STEPS: dict[Step, Statements] = {
    Step.CEILING: Statements(
        _SQL["pick_ceiling_due"], _with_fates("anonymize_events", Step.CEILING), _SQL["recheck_ceiling_due"]
    ),
    Step.TEXT: Statements(_SQL["pick_text_due"], _with_fates("redact_texts", Step.TEXT), _SQL["recheck_text_due"]),
    Step.ADDRESS: Statements(_SQL["pick_address_due"], _with_fates("redact_addresses", Step.ADDRESS)),
    Step.PROBLEM_JOBS: Statements(_SQL["pick_problem_jobs_due"], _SQL["delete_problem_jobs"]),
    Step.PROBLEM_JOB_ADDRESSES: Statements(
        _SQL["pick_problem_job_addresses_due"], _SQL["redact_problem_job_addresses"]
    ),
    Step.SUSPICIONS: Statements(_SQL["pick_suspicions_due"], _SQL["delete_suspicions"]),
    Step.ACCESS_LOG: Statements(_SQL["pick_accesses_due"], _SQL["delete_accesses"]),
}

_TELL_TEXTS_GONE = _with_fates("tell_texts_gone", Step.TEXT)


def window_of(step: Step, policy: RetentionPolicy) -> int | None:
    """The days after which a step acts; None: it never does."""
    match step:
        case Step.CEILING | Step.PROBLEM_JOBS:
            return policy.ceiling_days
        case Step.TEXT:
            return policy.text_days
        case Step.ADDRESS | Step.PROBLEM_JOB_ADDRESSES:
            return policy.ipaddr_days
        case Step.SUSPICIONS:
            return policy.worker_suspicion_days
        case Step.ACCESS_LOG:
            return policy.access_log_days


@asynccontextmanager
async def leading(store: Store, name: str) -> AsyncIterator[bool]:
    """Whether this replica leads in `name` for as long as the block runs. Raises StoreUnavailable.

    The lock belongs to a transaction that does nothing else, so it also holds behind a pooler of transactions.
    """
    async with store.transaction() as tx:
        yield bool(await tx.fetchval(_SQL["try_lead"], name))


async def pick(tx: Transaction, step: Step, days: int, amount: int) -> list[int]:
    """Locks the oldest rows of a step that keeps no objects."""
    return _ids(await tx.fetch(STEPS[step].pick, days, amount))


async def pick_texts(
    tx: Transaction, step: Step, days: int, amount: int, *, also_stored: bool, passed_over: Collection[int]
) -> list[int]:
    """Locks the oldest events whose text has to go, and gives those that a look after the lock still finds due."""
    recheck = STEPS[step].recheck
    picked = _ids(await tx.fetch(STEPS[step].pick, days, amount, also_stored, list(passed_over)))
    return _ids(await tx.fetch(recheck, days, picked)) if recheck is not None and picked else picked


async def change(tx: Transaction, step: Step, days: int, ids: Sequence[int]) -> list[int]:
    """Does what the step is for, to those of the rows that are still due; gives them."""
    return _ids(await tx.fetch(STEPS[step].change, days, list(ids))) if ids else []


async def tell_texts_gone(tx: Transaction, ids: Collection[int]) -> list[int]:
    """Says of stored events that their objects are gone; gives those that it was not known of."""
    return _ids(await tx.fetch(_TELL_TEXTS_GONE, list(ids))) if ids else []


async def upload_anew(tx: Transaction, ids: Collection[int]) -> None:
    """Lets an upload of these texts that is under way know that its object may be gone: it has to put it again."""
    if ids:
        await tx.execute(_SQL["upload_anew"], list(ids))


async def clear_marks(tx: Transaction, ids: Sequence[int]) -> None:
    """Removes the marks of events."""
    if ids:
        await tx.execute(_SQL["clear_marks"], list(ids))


async def shape(store: Store) -> tuple[list[str], dict[str, str]]:
    """The columns of the table of events and its promises' CHECKs. Raises StoreUnavailable."""
    row = await store.fetchrow(_SQL["read_shape"], list(fates.constraints()))
    if row is None:
        return [], {}
    return list(row["columns"]), json.loads(row["checks"])


async def overdue(store: Store, policy: RetentionPolicy) -> dict[Step, timedelta]:
    """How far the oldest row that nothing holds is past the window of each step; zero when it is on time."""
    rows = await store.fetch(_SQL["sample_overdue"], *_windows(policy))
    late = {row["step"]: row["late"] for row in rows}
    return {step: max(late.get(step.value) or timedelta(), timedelta()) for step in Step}


async def held(store: Store, policy: RetentionPolicy) -> dict[str, int]:
    """The events that only a hold keeps past a window, by its source."""
    rows = await store.fetch(_SQL["sample_held"], policy.text_days, policy.ipaddr_days, policy.ceiling_days)
    return {"note": 0, "account_status": 0} | {row["source"]: row["events"] for row in rows}


async def waiting_for_store(store: Store, policy: RetentionPolicy) -> int:
    """The events whose text is due and lies in the evidence store."""
    count: int = await store.fetchval(_SQL["count_waiting_for_store"], policy.text_days, policy.ceiling_days)
    return count


async def preview(store: Store, policy: RetentionPolicy) -> list[StepPreview]:
    """What the next pass of this policy would change. Raises StoreUnavailable."""
    return [StepPreview(**dict(row)) for row in await store.fetch(_SHARED["preview_retention"], *_windows(policy))]


async def violations(store: Store, policy: RetentionPolicy, grace: timedelta) -> dict[str, int]:
    """The values that outlived their windows by more than `grace` without being held, by kind."""
    rows = await store.fetch(_SQL["prove_retention"], *_windows(policy), grace)
    return {row["kind"]: row["violations"] for row in rows}


def _windows(policy: RetentionPolicy) -> tuple[int | None, ...]:
    return (
        policy.text_days,
        policy.ipaddr_days,
        policy.ceiling_days,
        policy.worker_suspicion_days,
        policy.access_log_days,
    )


def _ids(rows: Sequence[Record]) -> list[int]:
    return [row["id"] for row in rows]
