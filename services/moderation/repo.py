"""Every statement of moderation."""

import json
from dataclasses import dataclass

from horde.store import Store, queries
from services.moderation.patterns import FilterRow
from services.moderation.rules.evidence import Evidence
from services.moderation.rules.screening import USED_TYPES

_SQL = queries("services.moderation")


@dataclass(frozen=True, slots=True)
class Modes:
    """What holds for the whole horde now."""

    maintenance: bool
    invite_only: bool
    raid: bool


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


async def add_event(store: Store, evidence: Evidence) -> int:
    """Writes the evidence in a transaction of its own; gives the event's id."""
    stages = evidence.stages
    event_id: int = await store.fetchval(
        _SQL["insert_event"],
        evidence.account_id,
        evidence.address,
        evidence.subject_key,
        evidence.origin,
        json.dumps(evidence.models, ensure_ascii=False),
        evidence.reason.value,
        stages.submitted_prompt,
        stages.moderation_prompt,
        stages.sha256,
        stages.characters,
        stages.truncated,
    )
    return event_id
