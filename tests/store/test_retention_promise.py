"""The promise of retention, against any order of events.

No value outlives its window unless it is held, what is held stays as it is, and no text is told to be where it is not.
A hypothesis state machine on a real database. Time passes by moving what was captured into the past, so that retention
goes by the database's own clock, as it always does. More examples: a hypothesis profile with a larger `max_examples`.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from horde.contract.retention import RetentionPolicy
from services.moderation import reports_repo, retention_repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.loops.sweep_orphans import sweep_orphans
from services.moderation.loops.upload_evidence import upload_evidence
from services.moderation.retention import Tick
from services.moderation.rules.evidence import WorkerReport, capture_report
from tests.fakes.clock import FakeClock
from tests.fakes.evidence import SECRET, House, house
from tests.servers import Database

POLICY = RetentionPolicy(text_days=3, ipaddr_days=5, ceiling_days=9, worker_suspicion_days=4, access_log_days=6)
ACCOUNTS = (7, 8)
STANDINGS: list[dict[str, Any]] = [
    {},
    {"flagged": True},
    {"suspicions": 5},
    {"suspicions": 5, "trusted": True},
    {"suspicions": 4},
]
EMPTY = (
    "TRUNCATE moderation.moderation_event_notes, moderation.moderation_event_marks, moderation.moderation_events,"
    " moderation.user_problem_jobs, moderation.worker_suspicion_events, moderation.moderation_access_log"
    " RESTART IDENTITY"
)
HELD = (
    "SELECT e.* FROM moderation.moderation_events e"
    " WHERE moderation.hold_source_v1(e.id, e.user_id) IS NOT NULL ORDER BY e.id"
)


class Crash(Exception):
    """The process ends here."""


class Retention(RuleBasedStateMachine):
    """Captures, uploads, notes, standings, time and ticks, in any order and with anything failing."""

    runner: asyncio.Runner
    home: House

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[UUID] = []
        self.may_have_lost: set[int] = set()
        """Events whose objects a crash may have taken without telling."""

    def wait[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize()
    def nothing_is_remembered(self) -> None:
        self.home.evidence.objects.clear()
        self.wait(self.home.owner.execute(EMPTY))
        for account in ACCOUNTS:
            self.wait(self.home.account(account))

    @rule(account=some.sampled_from(ACCOUNTS), origin=some.sampled_from(["1.2.3.4", "2001:db8::1", "unknown", ""]))
    def a_prompt_is_refused(self, account: int, origin: str) -> None:
        self.wait(self.home.event(account_id=account, origin=origin))

    @rule(account=some.sampled_from(ACCOUNTS), repeats=some.booleans(), has_text=some.booleans())
    def a_worker_reports(self, account: int, *, repeats: bool, has_text: bool) -> None:
        job = self.jobs[-1] if repeats and self.jobs else uuid4()
        self.jobs.append(job)
        report = WorkerReport(
            request_id=uuid4(),
            job_id=job,
            worker_id=uuid4(),
            worker_name="w",
            account_id=account,
            proxied_account="somebody",
            origin="unknown",
            models=("m",),
            loras=(),
            submitted_prompt="said" if has_text else None,
            effective_prompt=None,
        )
        evidence = capture_report(report, secret=SECRET)
        self.wait(self.home.add(evidence))
        self.wait(reports_repo.add_problem_job(self.home.store, evidence))

    @rule(account=some.sampled_from(ACCOUNTS))
    def a_worker_is_suspected(self, account: int) -> None:
        add = (
            "INSERT INTO moderation.worker_suspicion_events (worker_id, worker_name, user_id, suspicion_id, detail)"
            " VALUES (gen_random_uuid(), 'w', $1, 5, 'd')"
        )
        self.wait(self.home.owner.execute(add, account))

    @rule(data=some.data())
    def somebody_writes_a_note(self, data: some.DataObject) -> None:
        event = self._any_event(data)
        if event is not None:
            self.wait(self.home.note(event))

    @rule(data=some.data())
    def somebody_marks(self, data: some.DataObject) -> None:
        event = self._any_event(data)
        mark = "INSERT INTO moderation.moderation_event_marks VALUES ($1, 1, 'seen') ON CONFLICT DO NOTHING"
        if event is not None:
            self.wait(self.home.owner.execute(mark, event))

    @rule(account=some.sampled_from(ACCOUNTS), standing=some.sampled_from(STANDINGS))
    def an_account_changes(self, account: int, standing: dict[str, Any]) -> None:
        self.wait(self.home.account(account, **standing))

    @rule(days=some.integers(1, 5))
    def time_passes(self, days: int) -> None:
        self.wait(self.home.grow_older(timedelta(days=days)))

    @rule(puts=some.sampled_from([None, 0, 1, 2]), crashes=some.booleans())
    def texts_are_uploaded(self, puts: int | None, *, crashes: bool) -> None:
        trouble = self.home.evidence.trouble
        trouble.puts_left = puts
        if crashes:
            trouble.after_put = crash
        with suppress(Crash):
            self.wait(upload_evidence(self.home.store, self.home.evidence, EvidenceEvents(), FakeClock()))
        self._calm()

    @rule(away=some.booleans(), stubborn=some.booleans())
    def a_tick_meets_a_bad_store(self, *, away: bool, stubborn: bool) -> None:
        self.home.evidence.trouble.away = away
        self.home.evidence.trouble.stubborn = set(self.home.evidence.objects) if stubborn else set()
        self._tick()
        self._calm()

    @rule()
    def a_tick_crashes_after_its_delete(self) -> None:
        before = set(self.home.evidence.objects)
        self.home.evidence.trouble.while_deleting = crash
        with suppress(Crash):
            self._tick()
        self._calm()
        self.may_have_lost |= before - set(self.home.evidence.objects)

    @rule(account=some.sampled_from(ACCOUNTS))
    def an_account_is_flagged_during_a_delete(self, account: int) -> None:
        async def flag() -> None:
            await self.home.account(account, flagged=True)

        self._texts_come_due()
        self.home.evidence.trouble.while_deleting = flag
        self._tick(holds_change=True)
        self._calm()

    @rule(data=some.data())
    def a_note_is_written_during_a_delete(self, data: some.DataObject) -> None:
        event = self._any_event(data)
        notes: list[asyncio.Task[None]] = []

        async def begin_note() -> None:
            # It may have to wait for the locks of the tick, which does not wait for it.
            if event is not None and not notes:
                notes.append(asyncio.create_task(self.home.note_elsewhere(event)))
                await asyncio.sleep(0)

        async def tick_then_note() -> None:
            await self._run_tick()
            await asyncio.gather(*notes)

        self._texts_come_due()
        self.home.evidence.trouble.while_deleting = begin_note
        self.wait(tick_then_note())
        self._calm()

    @rule()
    def a_good_tick_keeps_the_promise(self) -> None:
        self._tick()
        self.may_have_lost &= set(self._ids("text_state = 'stored'"))
        left = self.wait(retention_repo.violations(self.home.store, POLICY, timedelta()))
        assert set(left.values()) == {0}, left
        late = self.wait(retention_repo.overdue(self.home.store, POLICY))
        assert set(late.values()) == {timedelta()}, late

    @rule()
    def a_good_sweep_leaves_no_orphan(self) -> None:
        self.wait(sweep_orphans(self.home.store, self.home.evidence, EvidenceEvents()))
        textless = set(self._ids("text_state = 'none'"))
        assert not textless & set(self.home.evidence.objects)

    @invariant()
    def what_is_told_to_be_stored_is_there(self) -> None:
        stored = set(self._ids("text_state = 'stored'"))
        assert stored <= set(self.home.evidence.objects) | self.may_have_lost

    def _tick(self, *, holds_change: bool = False) -> None:
        """A tick; what was held before it is as it was, also while it failed."""
        held = self.wait(self.home.owner.fetch(HELD))
        try:
            self.wait(self._run_tick())
        finally:
            after = {row["id"]: row for row in self.wait(self.home.owner.fetch(HELD))}
            for row in held:
                assert holds_change or after[row["id"]] == row

    async def _run_tick(self) -> None:
        await Tick(self.home.store, self.home.evidence, POLICY, EvidenceEvents()).run()

    def _texts_come_due(self) -> None:
        self.wait(upload_evidence(self.home.store, self.home.evidence, EvidenceEvents(), FakeClock()))
        self.wait(self.home.grow_older(timedelta(days=POLICY.text_days or 0)))

    def _calm(self) -> None:
        self.home.evidence.trouble = type(self.home.evidence.trouble)()

    def _any_event(self, data: some.DataObject) -> int | None:
        ids = self._ids("true")
        return data.draw(some.sampled_from(ids)) if ids else None

    def _ids(self, where: str, *args: object) -> list[int]:
        query = f"SELECT id FROM moderation.moderation_events WHERE {where} ORDER BY id"  # noqa: S608 - words of this class
        return [row["id"] for row in self.wait(self.home.owner.fetch(query, *args))]


async def crash() -> None:
    raise Crash


@pytest.mark.timeout(300)
def test_no_value_outlives_its_window_unless_it_is_held(database: Database) -> None:
    bounds = settings(
        max_examples=max(settings().max_examples // 8, 1),
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    with asyncio.Runner() as runner:
        opened = house(database)
        home = runner.run(opened.__aenter__())
        try:
            machine = type("Retention", (Retention,), {"runner": runner, "home": home})
            run_state_machine_as_test(machine, settings=bounds)
        finally:
            runner.run(opened.__aexit__(None, None, None))
