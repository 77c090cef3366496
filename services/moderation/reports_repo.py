"""Every statement about what workers report, and what is reported of them."""

from dataclasses import dataclass

from horde.store import Store, queries
from services.moderation.rules.evidence import Evidence
from services.moderation.rules.problem_jobs import Counts
from services.moderation.rules.suspicions import Suspicion

_SQL = queries("services.moderation")


@dataclass(frozen=True, slots=True)
class AccountRow:
    """Whose job was reported."""

    alias: str
    anonymous: bool


async def add_problem_job(store: Store, evidence: Evidence) -> bool:
    """Counts a report; False when its job was counted already. Raises StoreUnavailable."""
    row = await store.fetchrow(
        _SQL["insert_problem_job"],
        evidence.account_id,
        evidence.proxied_account,
        evidence.worker_id,
        evidence.job_id,
        evidence.address,
        evidence.origin,
        evidence.happened,
    )
    return row is not None


async def problem_job_counts(store: Store, evidence: Evidence) -> Counts:
    """How many reports there were of late, of the account and of the address. Raises StoreUnavailable."""
    row = await store.fetchrow(
        _SQL["count_problem_jobs"], evidence.account_id, evidence.proxied_account, evidence.address
    )
    return Counts(**dict(row)) if row else Counts()


async def account(store: Store, account_id: int) -> AccountRow | None:
    """The account; None when it is gone. Raises StoreUnavailable."""
    row = await store.fetchrow(_SQL["read_account"], account_id)
    return None if row is None else AccountRow(row["alias"], row["anonymous"])


async def add_suspicion(store: Store, suspicion: Suspicion) -> bool:
    """Appends to the history; False when this report is in it already. Raises StoreUnavailable."""
    row = await store.fetchrow(
        _SQL["insert_suspicion"],
        suspicion.report_id,
        suspicion.worker_id,
        suspicion.worker_name,
        suspicion.owner_id,
        suspicion.suspicion_id,
        suspicion.detail,
        suspicion.happened,
    )
    return row is not None
