"""Compares all that a database and its bucket tell of evidence with the model of what retention ought to have done."""

import hashlib
from datetime import timedelta
from typing import Any

from horde.store import queries
from services.moderation import retention_repo
from services.moderation.rules.fates import Step
from tests.fakes.evidence import House
from tests.fakes.retention_model import ADDRESS, FLAGS, IDENTITY, KEPT, TEXT, Captured, Model

DAY = timedelta(days=1)
STAGES = TEXT[:3]
LISTED = queries("services.moderation")["read_events"]
LINES = (
    "SELECT (SELECT count(*) FROM moderation.user_problem_jobs),"
    " (SELECT count(*) FROM moderation.user_problem_jobs WHERE num_nonnulls(ipaddr, origin_text) > 0),"
    " (SELECT count(*) FROM moderation.worker_suspicion_events),"
    " (SELECT count(*) FROM moderation.moderation_access_log)"
)


async def everything_agrees(home: House, model: Model, may_have_lost: set[int]) -> None:
    """`may_have_lost`: the stored events whose objects a crash may have taken."""
    rows = await home.owner.fetch("SELECT * FROM moderation.moderation_events ORDER BY id")
    assert [row["id"] for row in rows] == sorted(model.events), "an event is never deleted"
    for row in rows:
        event, found = model.events[row["id"]], home.evidence.objects.get(row["id"])
        values_agree(dict(row), event)
        text_agrees(dict(row), event, event.body if row["id"] in may_have_lost else found)
    await lines_agree(home, model)
    await told_agrees(home, model)


def values_agree(row: dict[str, Any], event: Captured) -> None:
    """What is kept for good, the flags, address and identity."""
    assert of(row, KEPT) == of(event.row, KEPT)
    assert {step: row[flag] for step, flag in FLAGS.items()} == {step: step in event.done for step in FLAGS}
    for names, step in ((ADDRESS, Step.ADDRESS), (IDENTITY, Step.CEILING)):
        assert of(row, names) == (dict.fromkeys(names) if step in event.done else of(event.row, names))


def text_agrees(row: dict[str, Any], event: Captured, found: bytes | None) -> None:
    """The text is where the row says, whole and with its digest; or nothing of it is left."""
    if Step.TEXT in event.done or event.body is None:
        assert (row["text_state"], of(row, TEXT)) == ("none", dict.fromkeys(TEXT))
        return
    assert of(row, TEXT[3:]) == of(event.row, TEXT[3:])
    assert row["text_sha256"] == hashlib.sha256(event.body).hexdigest()
    if row["text_state"] == "pending":
        assert of(row, STAGES) == of(event.row, STAGES)
    else:
        assert (row["text_state"], of(row, STAGES)) == ("stored", dict.fromkeys(STAGES))
        assert found == event.body


async def lines_agree(home: House, model: Model) -> None:
    """Problem jobs, their addresses, the history of suspicions, the access log, marks."""
    jobs = [line for line in model.lines if line.step is Step.PROBLEM_JOBS]
    others = [[line for line in model.lines if line.step is step] for step in (Step.SUSPICIONS, Step.ACCESS_LOG)]
    counts = await home.owner.fetchrow(LINES)
    assert counts is not None
    assert tuple(counts) == (len(jobs), sum(job.has_address for job in jobs), *map(len, others))
    marked = await home.owner.fetch("SELECT event_id FROM moderation.moderation_event_marks ORDER BY 1")
    assert [row[0] for row in marked] == [event for event in sorted(model.events) if model.events[event].marked]


async def told_agrees(home: House, model: Model) -> None:
    """The listing's hold, the preview, the proof, and how late it is."""
    listed = await home.store.fetch(LISTED, list(model.events))
    assert {row["id"]: row["hold_source"] for row in listed} == {
        number: model.hold(event) for number, event in model.events.items()
    }
    steps = await retention_repo.preview(home.store, model.policy)
    told = {step.step: (step.due_now, step.held_by_note, step.held_by_account_status) for step in steps}
    assert told == model.preview()
    assert await retention_repo.violations(home.store, model.policy, timedelta()) == model.violations()
    late = await retention_repo.overdue(home.store, model.policy)
    assert {step: by // DAY for step, by in late.items()} == model.days_late()


def of(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}
