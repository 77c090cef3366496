"""The promise of retention, against any order of events.

No value outlives its window unless it is held, what is held stays as it is, and no text is told to be where it is not.
A hypothesis state machine on a real database, beside a model of it in Python (tests/fakes/retention_model.py): after
each step, every value of every row, what the listing, the preview and the proof say of them, and every object are
compared with it. Time passes by moving what was captured into the past, so that retention goes by the database's own
clock, as it always does. More examples: a hypothesis profile with a larger `max_examples`.
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
from horde.store import queries
from services.moderation import reports_repo, review_repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.evidence_store import EvidenceUnavailable
from services.moderation.loops.sweep_orphans import sweep_orphans
from services.moderation.loops.upload_evidence import upload_evidence
from services.moderation.retention import Tick
from services.moderation.rules.evidence import (
    Evidence,
    Path,
    WorkerReport,
    canonical_text,
    capture,
    capture_report,
)
from services.moderation.rules.fates import Step
from tests.fakes.clock import FakeClock
from tests.fakes.evidence import SECRET, House, MemoryEvidence, Trouble, house
from tests.fakes.retention_model import FLAGS, POLICIES, Captured, Line, Model, Standing
from tests.fakes.retention_told import everything_agrees
from tests.servers import Database

ANONYMOUS, GONE = 0, 9
ACCOUNTS = (7, 8)
WHOEVER = (*ACCOUNTS, ANONYMOUS, GONE)
STANDINGS: list[dict[str, Any]] = [
    {},
    {"flagged": True},
    {"flagged": True, "trusted": True},
    {"suspicions": 5},
    {"suspicions": 5, "trusted": True},
    {"suspicions": 4},
]
ORIGINS = ["1.2.3.4", "2001:db8::1", "unknown", ""]
EMPTY = (
    "TRUNCATE moderation.moderation_event_notes, moderation.moderation_event_marks, moderation.moderation_events,"
    " moderation.user_problem_jobs, moderation.worker_suspicion_events, moderation.moderation_access_log"
    " RESTART IDENTITY"
)
UNWIPE = "UPDATE admission.users SET oauth_id = 'oauth-' || id WHERE oauth_id LIKE '<wiped>%'"
WIPE = queries("services.admission")["wipe_account"].sql


class Crash(Exception):
    """The process ends here."""


async def crash() -> None:
    raise Crash


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

    @initialize(policy=some.sampled_from(POLICIES))
    def nothing_is_remembered(self, policy: RetentionPolicy) -> None:
        self.home.evidence.objects.clear()
        for statement in (EMPTY, UNWIPE):
            self.wait(self.home.owner.execute(statement))
        for account in ACCOUNTS:
            self.wait(self.home.account(account))
        self.wait(self.home.anonymous())
        self.model = Model(policy, {account: Standing() for account in WHOEVER})
        self.model.accounts[ANONYMOUS] = Standing(flagged=True, suspicions=9, anonymous=True)

    # what is captured, and by whom ---------------------------------------------------------------------------------

    @rule(
        account=some.sampled_from(WHOEVER),
        origin=some.sampled_from(ORIGINS),
        secret=some.sampled_from([SECRET, None]),
        reason=some.sampled_from(Path),
        prompt=some.sampled_from(["words", "schön \x00\ud800", ""]),
    )
    def a_prompt_is_refused(self, account: int, origin: str, secret: str | None, reason: Path, prompt: str) -> None:
        evidence = capture(
            account_id=account,
            origin=origin,
            models=("m",),
            prompt=prompt,
            reason=reason,
            secret=secret,
            proxied_account="somebody" if prompt else None,
        )
        self._remember(evidence)

    @rule(
        account=some.sampled_from(WHOEVER),
        origin=some.sampled_from(ORIGINS),
        repeats=some.booleans(),
        has_text=some.booleans(),
    )
    def a_worker_reports(self, account: int, origin: str, *, repeats: bool, has_text: bool) -> None:
        job = self.jobs[-1] if repeats and self.jobs else uuid4()
        self.jobs.append(job)
        report = WorkerReport(
            request_id=uuid4(),
            job_id=job,
            worker_id=uuid4(),
            worker_name="w",
            account_id=account,
            proxied_account="somebody",
            origin=origin,
            models=("m",),
            loras=(),
            submitted_prompt="said" if has_text else None,
            effective_prompt="got" if has_text else None,
        )
        evidence = capture_report(report, secret=SECRET)
        self._remember(evidence)
        if self.wait(reports_repo.add_problem_job(self.home.store, evidence)):
            self.model.lines.append(Line(Step.PROBLEM_JOBS, account, has_address=origin != ""))

    @rule(account=some.sampled_from(WHOEVER))
    def a_worker_is_suspected(self, account: int) -> None:
        self.wait(self.home.suspicion(0, account))
        self.model.lines.append(Line(Step.SUSPICIONS, account))

    @rule(account=some.sampled_from(ACCOUNTS))
    def a_moderator_reads(self, account: int) -> None:
        self.wait(self.home.access(0, account))
        self.model.lines.append(Line(Step.ACCESS_LOG, account))

    # what moderators and operators do ------------------------------------------------------------------------------

    @rule(data=some.data())
    def somebody_writes_a_note(self, data: some.DataObject) -> None:
        event = self._any_event(data)
        if event is not None:
            self.wait(self.home.note(event))
            self.model.events[event].noted = True

    @rule(data=some.data(), mark=some.sampled_from(["seen", "dismissed", None]))
    def somebody_marks(self, data: some.DataObject, mark: str | None) -> None:
        event = self._any_event(data)
        if event is not None:
            self.wait(self._mark(event, mark))
            known = self.model.events[event]
            known.marked = mark is not None and Step.CEILING not in known.done

    async def _mark(self, event: int, mark: str | None) -> None:
        async with self.home.store.transaction() as tx:
            await review_repo.set_mark(tx, event, 1, mark)

    @rule(account=some.sampled_from(ACCOUNTS), standing=some.sampled_from(STANDINGS))
    def an_account_changes(self, account: int, standing: dict[str, Any]) -> None:
        self.wait(self.home.account(account, **standing))
        self.model.accounts[account] = Standing(**standing)

    @rule(account=some.sampled_from(ACCOUNTS))
    def an_account_is_wiped(self, account: int) -> None:
        self.wait(self.home.owner.execute(WIPE, account))

    @rule(policy=some.sampled_from(POLICIES))
    def the_windows_change(self, policy: RetentionPolicy) -> None:
        self.model.policy = policy

    @rule(days=some.integers(1, 5))
    def time_passes(self, days: int) -> None:
        self.wait(self.home.grow_older(timedelta(days=days)))
        for event in self.model.events.values():
            event.age += days
        for line in self.model.lines:
            line.age += days

    # the evidence store --------------------------------------------------------------------------------------------

    @rule(puts=some.sampled_from([None, 0, 1, 2]), crashes=some.booleans())
    def texts_are_uploaded(self, puts: int | None, *, crashes: bool) -> None:
        trouble = self.home.evidence.trouble
        trouble.puts_left = puts
        if crashes:
            trouble.after_put = crash
        with suppress(Crash):
            self._upload()
        self._calm()

    @rule()
    def a_tick_comes_between_a_put_and_its_update(self) -> None:
        if self._ids("text_state = 'pending'"):
            self._upload_around_a_tick(Trouble())
            self.model.a_pass()

    @rule(account=some.sampled_from(ACCOUNTS))
    def that_tick_meets_an_account_that_is_flagged(self, account: int) -> None:
        if self._ids("text_state = 'pending'"):
            may_go = self._may_go()
            self._upload_around_a_tick(Trouble(while_deleting=lambda: self._flag(account)))
            self._take_over(may_go)

    @rule(data=some.data())
    def a_put_lands_late(self, data: some.DataObject) -> None:
        event = self._any_event(data)
        if event is not None and Step.TEXT in self.model.events[event].done:
            self.home.evidence.objects[event] = b"late"

    @rule()
    def a_sweep_leaves_no_orphan(self) -> None:
        self.wait(sweep_orphans(self.home.store, self.home.evidence, EvidenceEvents()))
        assert not set(self._ids("text_state = 'none'")) & set(self.home.evidence.objects)

    @rule()
    def a_sweep_meets_a_store_that_is_away(self) -> None:
        self.home.evidence.trouble.away = True
        with suppress(EvidenceUnavailable):
            self.wait(sweep_orphans(self.home.store, self.home.evidence, EvidenceEvents()))
        self._calm()

    # ticks ---------------------------------------------------------------------------------------------------------

    @rule()
    def a_tick(self) -> None:
        self.wait(self._run_tick())
        self.model.a_pass()
        self.may_have_lost &= set(self._ids("text_state = 'stored'"))
        assert set(self.model.violations().values()) == {0}

    @rule(is_unset=some.booleans())
    def a_tick_without_a_store(self, *, is_unset: bool) -> None:
        stored = self._ids("text_state = 'stored'")
        self.home.evidence.trouble.away = True
        self.wait(self._run_tick(MemoryEvidence(configured=False) if is_unset else None))
        self._calm()
        self.model.a_pass(kept_by_store=stored)

    @rule(data=some.data())
    def a_tick_meets_a_store_that_keeps_objects(self, data: some.DataObject) -> None:
        objects = sorted(self.home.evidence.objects)
        kept = set(data.draw(some.lists(some.sampled_from(objects)))) if objects else set()
        self.home.evidence.trouble.stubborn = kept
        self.wait(self._run_tick())
        self._calm()
        self.model.a_pass(kept_by_store=kept)

    @rule()
    def a_tick_crashes_after_its_delete(self) -> None:
        before = set(self.home.evidence.objects)
        self.home.evidence.trouble.while_deleting = crash
        try:
            self.wait(self._run_tick())
        except Crash:
            self.may_have_lost |= before - set(self.home.evidence.objects) & set(self._ids("text_state = 'stored'"))
        else:
            self.model.a_pass()
        self._calm()

    @rule(account=some.sampled_from(ACCOUNTS))
    def an_account_is_flagged_during_a_delete(self, account: int) -> None:
        self._texts_come_due()
        self.home.evidence.trouble.while_deleting = lambda: self._flag(account)
        may_go = self._may_go()
        self.wait(self._run_tick())
        self._calm()
        self._take_over(may_go)

    @rule(data=some.data())
    def a_note_is_written_during_a_delete(self, data: some.DataObject) -> None:
        self._texts_come_due()
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

        self.home.evidence.trouble.while_deleting = begin_note
        may_go = self._may_go()
        self.wait(tick_then_note())
        self._calm()
        if event is not None and notes:
            self.model.events[event].noted = True
        self._take_over(may_go)

    @invariant()
    def everything_is_as_it_should_be(self) -> None:
        if hasattr(self, "model"):
            self.wait(everything_agrees(self.home, self.model, self.may_have_lost))

    # -----------------------------------------------------------------------------------------------------------------

    def _remember(self, evidence: Evidence) -> None:
        event, is_new = self.wait(self.home.add(evidence))
        assert is_new == (event not in self.model.events)
        if is_new:
            row = self.wait(self.home.row(event))
            stages = [row[name] for name in ("submitted_prompt", "moderation_prompt", "effective_prompt")]
            body = None if stages == [None] * 3 else canonical_text(*stages)
            self.model.events[event] = Captured(row, body)

    async def _flag(self, account: int) -> None:
        await self.home.account(account, flagged=True)
        self.model.accounts[account] = Standing(flagged=True)

    def _may_go(self) -> dict[Step, set[int]]:
        """What a tick may do now, by step: the ceiling takes everything, and whoever lost his object has no text."""
        due = {step: {event.row["id"] for event in self.model.due(step)} for step in FLAGS}
        return {step: ids | due[Step.CEILING] for step, ids in due.items()}

    def _take_over(self, may_go: dict[Step, set[int]]) -> None:
        """After a tick that others interfered with: what it did to events, it was allowed to do."""
        for step, flag in FLAGS.items():
            for event in self._ids(flag):
                known = self.model.events[event]
                assert step in known.done or event in may_go[step]
                known.done.add(step)
        for known in self.model.events.values():
            known.marked = known.marked and Step.CEILING not in known.done
        self.model.a_pass(kept_by_store=self.model.events)
        assert not self.model.due(Step.CEILING)
        assert not self.model.due(Step.TEXT)

    def _upload_around_a_tick(self, trouble: Trouble) -> None:
        async def tick() -> None:
            self.home.evidence.trouble = trouble
            await self._run_tick()

        self.home.evidence.trouble.after_put = tick
        self._upload()
        self._calm()

    def _upload(self) -> None:
        self.wait(upload_evidence(self.home.store, self.home.evidence, EvidenceEvents(), FakeClock()))

    async def _run_tick(self, evidence: MemoryEvidence | None = None) -> None:
        await Tick(self.home.store, evidence or self.home.evidence, self.model.policy, EvidenceEvents()).run()

    def _texts_come_due(self) -> None:
        self._upload()
        self.time_passes(days=self.model.policy.text_days or self.model.policy.ceiling_days)

    def _calm(self) -> None:
        self.home.evidence.trouble = Trouble()

    def _any_event(self, data: some.DataObject) -> int | None:
        ids = sorted(self.model.events)
        return data.draw(some.sampled_from(ids)) if ids else None

    def _ids(self, where: str) -> list[int]:
        query = f"SELECT id FROM moderation.moderation_events WHERE {where} ORDER BY id"  # noqa: S608 - words of this class
        return [row["id"] for row in self.wait(self.home.owner.fetch(query))]


@pytest.mark.timeout(300)
def test_no_value_outlives_its_window_unless_it_is_held(database: Database) -> None:
    bounds = settings(
        max_examples=max(settings().max_examples // 5, 1),
        stateful_step_count=30,
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
