"""Statements about how a request stands."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from horde.store import Store
from services.dispatch.repo import QUERIES
from services.dispatch.rules.completion import Tally
from services.dispatch.rules.status import (
    HEAD_STEP,
    QUEUE_BOUND,
    Availability,
    Finished,
    Load,
    Standing,
    shown_state,
)

_READ_STATUS = QUERIES["read_status"]
_HEAD = QUERIES["read_queue_head"]
_MEASURE = QUERIES["measure_request"]
_LOAD = QUERIES["read_competing_load"]


async def read_status(
    store: Store, request: UUID, *, chat: bool, unmeasured_speed: float, now: datetime
) -> Standing | None:
    """A request of this family with its finished generations, in one snapshot; None when there is none."""
    row = await store.fetchrow(_READ_STATUS, request, chat, unmeasured_speed, now)
    if row is None:
        return None
    return Standing(
        tally=Tally(
            n=row["n"],
            jobs=row["jobs"],
            processing=row["processing"],
            finished=row["finished"],
            restarted=row["restarted"],
            faulted=row["faulted"],
            cancelled=row["cancelled"],
        ),
        active=row["active"],
        expired=row["expired"],
        created=row["created"],
        consumed_kudos=row["consumed_kudos"],
        context_adjustments=row["context_adjustments"],
        fault_reason=row["chat_fault_reason"],
        fault_rc=row["chat_fault_rc"],
        streamed=row["streamed"],
        remaining=row["remaining"],
        ahead=row["ahead"],
        rank=row["rank"],
        generations=[_finished(entry) for entry in json.loads(row["generations"])],
    )


async def queue_head(store: Store) -> Sequence[float]:
    """The ranks of every HEAD_STEPth of the first waiting requests, falling."""
    ranks: Sequence[float] = await store.fetchval(_HEAD, QUEUE_BOUND, HEAD_STEP)
    return ranks


def _finished(entry: Mapping[str, Any]) -> Finished:
    known = {key: value for key, value in entry.items() if key != "censored"}
    return Finished(state=shown_state(censored=entry["censored"], gen_metadata=entry["gen_metadata"]), **known)


async def measure(
    store: Store, request: UUID, *, online: timedelta, unmeasured_speed: float, capacity_seconds: float
) -> Availability | None:
    """Who could take the request now; None when it is gone."""
    row = await store.fetchrow(_MEASURE, request, online, unmeasured_speed, capacity_seconds)
    if row is None:
        return None
    return Availability(
        workers=row["eligible_workers"],
        threads=row["eligible_threads"],
        tokens_per_second=row["tokens_per_second"],
        worker_ids=tuple(row["worker_ids"]),
        gap=bool(row["gap"]),
        missing=tuple(row["missing"]),
        exceeded=tuple(row["exceeded"]),
    )


async def competing_load(store: Store, workers: Sequence[UUID]) -> Load:
    """What waits that at least one of these workers could take."""
    row = await store.fetchrow(_LOAD, list(workers))
    return Load() if row is None else Load(row["tokens"], row["jobs"])
