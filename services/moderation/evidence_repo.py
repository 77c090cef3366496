"""Every statement of the evidence store: what waits to be moved there, what was moved, and how things stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from horde.store import Store, queries

_SQL = queries("services.moderation")


@dataclass(frozen=True, slots=True)
class PendingText:
    """An event whose text is still in its row."""

    id: int
    version: str
    """Of the row: another one means that somebody was at it."""
    submitted_prompt: str | None
    moderation_prompt: str | None
    effective_prompt: str | None


@dataclass(frozen=True, slots=True)
class PutText:
    """A text whose object was put."""

    id: int
    version: str
    sha256: str
    characters: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How many events there were of late, and what still waits."""

    pending: int
    oldest: timedelta
    subjects: int
    recent: dict[str, int]
    table_rows: dict[str, int]


async def pending(store: Store, amount: int, *, after: int) -> list[PendingText]:
    """The oldest events with a text in their row, by id."""
    rows = await store.fetch(_SQL["pick_pending_texts"], amount, after)
    return [
        PendingText(
            row["id"], row["version"], row["submitted_prompt"], row["moderation_prompt"], row["effective_prompt"]
        )
        for row in rows
    ]


async def store_texts(store: Store, texts: Sequence[PutText]) -> set[int]:
    """Takes the texts out of their rows; gives the events of which that was still to be done."""
    rows = await store.fetch(
        _SQL["store_texts"],
        [text.id for text in texts],
        [text.version for text in texts],
        [text.sha256 for text in texts],
        [text.characters for text in texts],
    )
    return {row["id"] for row in rows}


async def text_states(store: Store, events: Sequence[int]) -> dict[int, str]:
    """Where the texts of events are; an event that does not exist is left out."""
    return {row["id"]: row["text_state"] for row in await store.fetch(_SQL["read_text_states"], list(events))}


async def standing(store: Store) -> Standing:
    """How things stand now. Costs the same however large the tables are."""
    waiting = await store.fetchrow(_SQL["observe_pending"])
    recent = await store.fetch(_SQL["observe_rejections"])
    tables = await store.fetch(_SQL["observe_tables"])
    return Standing(
        pending=waiting["pending"] if waiting else 0,
        oldest=waiting["oldest"] if waiting else timedelta(),
        subjects=recent[0]["subjects"] if recent else 0,
        recent={row["reason"]: row["events"] for row in recent},
        table_rows={row["name"]: row["rows"] for row in tables},
    )
