"""Every statement of moderation."""

import json
from dataclasses import dataclass
from uuid import UUID

from horde.store import Record, Store, queries
from horde.store.listening import ADDRESS_STANDINGS
from services.moderation.patterns import FilterRow
from services.moderation.rules.evidence import Evidence
from services.moderation.rules.filters import Filter, FilterChange, FilterDraft
from services.moderation.rules.modes import Modes, ModesChange
from services.moderation.rules.screening import USED_TYPES

_SQL = queries("services.moderation")


@dataclass(frozen=True, slots=True)
class CallerRow:
    """Whose key this is."""

    id: int
    alias: str
    moderator: bool
    deleted: bool


async def caller(store: Store, key_hash: str) -> CallerRow | None:
    """The account of a key; None when there is none."""
    row = await store.fetchrow(_SQL["read_caller"], key_hash)
    return None if row is None else CallerRow(row["id"], row["alias"], row["moderator"], row["deleted"])


async def tell_address_standings(store: Store) -> None:
    """Tells every process that remembers the standing of addresses that one has changed."""
    await store.fetchval(_SQL["tell_address_standings"], ADDRESS_STANDINGS)


async def filters(store: Store) -> list[FilterRow]:
    """The filters of every type that is matched."""
    rows = await store.fetch(_SQL["read_filters"], list(USED_TYPES))
    return [FilterRow(row["id"], row["filter_type"], row["regex"], row["replacement"]) for row in rows]


async def has_filters(store: Store) -> bool:
    """Whether there is any such filter."""
    return bool(await store.fetchval(_SQL["has_filters"], list(USED_TYPES)))


async def modes(store: Store) -> Modes:
    """The modes. Without their row nothing is switched on."""
    row = await store.fetchrow(_SQL["read_modes"])
    return Modes(row["maintenance"], row["invite_only"], row["raid"]) if row else Modes(False, False, False)  # noqa: FBT003 - the three modes in their order


async def set_modes(store: Store, change: ModesChange) -> None:
    """Switches what is to be different."""
    await store.execute(_SQL["set_modes"], change.maintenance, change.invite_only, change.raid)


async def list_filters(store: Store, kind: int | None, contains: str) -> list[Filter]:
    """Filters in the order of their ids; `contains` is looked for in pattern and description, whatever its case."""
    return [_filter(row) for row in await store.fetch(_SQL["list_filters"], kind, contains)]


async def read_filter(store: Store, filter_id: int) -> Filter | None:
    """One filter; None when there is none."""
    row = await store.fetchrow(_SQL["read_filter"], filter_id)
    return None if row is None else _filter(row)


async def insert_filter(store: Store, draft: FilterDraft, author_id: int) -> Filter:
    """Writes a filter, unless there is one of this pattern and type: that one is given then."""
    row = await store.fetchrow(
        _SQL["insert_filter"], draft.regex, draft.kind, draft.description, draft.replacement, author_id
    )
    if row is None:
        raise LookupError("the filter went away while it was written")
    return _filter(row)


async def update_filter(store: Store, filter_id: int, change: FilterChange) -> Filter | None:
    """Changes a filter; None when there is none. Raises UniqueViolation when another one has its pattern and type."""
    row = await store.fetchrow(
        _SQL["update_filter"], filter_id, change.regex, change.kind, change.description, change.replacement
    )
    return None if row is None else _filter(row)


async def delete_filter(store: Store, filter_id: int) -> bool:
    """Whether there was such a filter; there is none any more."""
    return await store.execute(_SQL["delete_filter"], filter_id) > 0


async def worker_address(store: Store, worker_id: UUID) -> tuple[bool, str | None]:
    """Whether there is such a worker, and the origin of its last check-in."""
    row = await store.fetchrow(_SQL["read_worker_address"], worker_id)
    return (False, None) if row is None else (True, row["ipaddr"])


def _filter(row: Record) -> Filter:
    return Filter(
        id=row["id"],
        regex=row["regex"],
        kind=row["filter_type"],
        description=row["description"],
        replacement=row["replacement"],
        user=row["alias"],
    )


async def add_event(store: Store, evidence: Evidence) -> tuple[int, bool]:
    """Writes the evidence in a transaction of its own; gives the event's id, and False when its job had one already."""
    stages = evidence.stages
    row = (
        evidence.account_id,
        evidence.address,
        evidence.subject_key,
        evidence.origin,
        json.dumps(evidence.models, ensure_ascii=False),
        evidence.reason,
        evidence.outcome,
        stages.submitted_prompt,
        stages.moderation_prompt,
        stages.effective_prompt,
        stages.state,
        stages.sha256,
        stages.characters,
        stages.truncated,
        evidence.proxied_account,
        evidence.request_id,
        evidence.job_id,
        evidence.worker_id,
        evidence.happened,
    )
    for _ in range(2):
        event_id: int | None = await store.fetchval(_SQL["insert_event"], *row)
        if event_id is not None:
            return event_id, True
        known: int | None = await store.fetchval(_SQL["event_of_job"], evidence.job_id)
        if known is not None:
            return known, False
        # The ceiling took the job's id out of the older event in between: this report is a new one now.
    raise LookupError("the event of the job came and went twice")
