"""Random days of a horde: whatever happens, what must always hold holds. More examples: HORDE_TEST_EXAMPLES=500."""

import asyncio
import os
import uuid
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from horde.contract.refusal import Refusal
from horde.store import queries
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import workers_pb2
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch.loops.abort_on_maintenance import abort_on_maintenance
from services.dispatch.loops.abort_stale_leases import abort_stale_leases
from services.dispatch.loops.delete_objects import delete_objects
from services.dispatch.loops.deliver_reports import deliver_reports
from services.dispatch.loops.refresh_worker_speeds import refresh_worker_speeds
from services.dispatch.loops.remove_expired_requests import remove_expired_requests
from tests.fakes.dispatch_horde import Horde, serving
from tests.fakes.dispatch_scene import MODEL, Account
from tests.servers import Database

_EXAMPLES = int(os.environ.get("HORDE_TEST_EXAMPLES", "10"))
_STEPS = 25
_LEDGER = queries("horde.cli")
_LOOPS = {
    loop.__name__: loop
    for loop in (
        abort_stale_leases,
        remove_expired_requests,
        abort_on_maintenance,
        delete_objects,
        deliver_reports,
        refresh_worker_speeds,
    )
}

_ADD_UP = """
SELECT r.id, r.n, r.jobs, r.faulted, r.cancelled, c.finished, c.running, c.given_up
FROM dispatch.waiting_prompts r CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE g.generation IS NOT NULL AND NOT g.faulted) AS finished,
           count(*) FILTER (WHERE g.generation IS NULL AND NOT g.faulted) AS running,
           count(*) FILTER (WHERE g.faulted) AS given_up
    FROM dispatch.processing_gens g WHERE g.wp_id = r.id AND NOT g.fake) c
WHERE CASE WHEN r.cancelled THEN r.n <> 0 OR c.finished + c.running > r.jobs
           ELSE r.n + c.finished + c.running <> r.jobs END
"""
"""Requests whose jobs are not each in one place: waiting, leased to one worker, or ended."""

_MISPLACED = """
SELECT m.wp_id FROM dispatch.wp_models m JOIN dispatch.waiting_prompts r ON r.id = m.wp_id
WHERE m.waiting <> (r.active AND r.n > 0 AND NOT r.faulted AND NOT r.cancelled)
"""
"""Entries of the queue that do not say what their request says."""

_BADLY_SETTLED = """
SELECT g.id FROM dispatch.processing_gens g
LEFT JOIN admission.settlements s ON s.subject_id = g.id AND s.kind = 'generation'
WHERE (s.subject_id IS NOT NULL) <> (NOT g.fake AND (g.generation IS NOT NULL OR g.cancelled))
"""
"""Generations that were paid without having ended well, or ended well without having been paid."""

_OVERDUE_HOLDS = """
SELECT h.business_id FROM admission.kudos_reservations h JOIN dispatch.waiting_prompts r ON r.id = h.request_id
WHERE h.released_at IS NULL AND r.terminal_outcome IS NOT NULL
  AND NOT EXISTS (
      SELECT FROM dispatch.processing_gens g
      WHERE g.wp_id = r.id AND NOT g.fake AND g.generation IS NULL AND NOT g.faulted)
"""
"""Holds of requests of which nothing can be charged any more."""

_TABLES = (
    "dispatch.waiting_prompts, dispatch.workers, dispatch.lanes, dispatch.object_deletions, dispatch.worker_reports"
)


@dataclass
class Job:
    """A job that a worker was given."""

    id: uuid.UUID
    owner: Account
    chat: bool
    streamed: bool
    posted: int = 0


@dataclass
class Day:
    """What a test knows of the horde: everybody's jobs and requests, in the order in which they came."""

    requests: list[tuple[uuid.UUID, bool]] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    objects: set[str] = field(default_factory=set)


class Days(RuleBasedStateMachine):
    """One client, three workers: of a trusted owner, of an untrusted one, and a paused one."""

    horde: Horde
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self.day = Day()

    def _run[T](self, what: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(what)

    def _refusal(self, call: Coroutine[Any, Any, object]) -> str:
        """The return code of a call that may be refused; empty when it is not."""
        try:
            self._run(call)
        except Refusal as refusal:
            return refusal.reason.word
        return ""

    def _answer[T](self, call: Coroutine[Any, Any, T], *, unless: str) -> T | None:
        """What a call answers; None when it is refused for this one reason."""
        try:
            return self._run(call)
        except Refusal as refusal:
            if refusal.reason.word != unless:
                raise
            return None

    def _rows(self, statement: str, *args: object) -> list[dict[str, Any]]:
        return [dict(row) for row in self._run(self.horde.dispatch.scene.db.fetch(statement, *args))]

    def _job(self, place: int) -> Job:
        return self.day.jobs[place % len(self.day.jobs)]

    @initialize()
    def begin(self) -> None:
        """Accounts, and workers that have popped once."""
        scene = self.horde.dispatch.scene
        self._run(scene.db.execute(f"TRUNCATE {_TABLES} CASCADE"))
        self._run(scene.db.execute("DELETE FROM admission.kudos_reservations"))
        self._run(scene.db.execute("UPDATE moderation.settings SET maintenance = false"))
        self.client = self._run(scene.account(kudos=0))
        self.owners = [self._run(scene.account(trusted=place == 0)) for place in range(3)]
        for place in range(3):
            self._run(self.horde.pop(self._pop(place, 1)))
        self._run(scene.db.execute("UPDATE dispatch.workers SET paused = true WHERE name = $1", self._name(2)))
        # so that every day has jobs from its first step on
        self.queue(chat=True, stream=True, jobs=1, objects=True, hold=True)
        self.queue(chat=False, stream=False, jobs=3, objects=False, hold=True)
        for place in range(3):
            self.pop(place=place, amount=1)

    def _name(self, place: int) -> str:
        return f"worker of {self.owners[place].id}"

    def _pop(self, place: int, amount: int) -> pb.ClaimJobsRequest:
        limits = workers_pb2.ChatLimits(max_context_length=4096, max_length=1024)
        chat = workers_pb2.ChatDeclaration(
            chat_jobs=True,
            chat_features=["prompt_overflow_refused"],
            chat_limits=limits,
            model_id=MODEL,
            image_transports=["url"],
        )
        return pb.ClaimJobsRequest(
            caller=Caller(api_key=self.owners[place].key, remote_address=f"203.0.113.{place}"),
            name=self._name(place),
            models=[MODEL],
            bridge_agent="KoboldCppEmbedWorker:2:url",
            amount=amount,
            max_length=1024,
            max_context_length=4096,
            nsfw=True,
            chat=chat,
        )

    @rule(chat=st.booleans(), stream=st.booleans(), jobs=st.integers(1, 3), objects=st.booleans(), hold=st.booleans())
    def queue(self, *, chat: bool, stream: bool, jobs: int, objects: bool, hold: bool) -> None:
        """A request is accepted."""
        scene = self.horde.dispatch.scene
        scene.now = self.horde.dispatch.clock.now()
        keys = [f"{uuid.uuid4()}.jpg"] if objects else []
        self.day.objects.update(keys)
        columns: dict[str, Any] = {"chat_extras": {"stream_progress": True}} if chat and stream else {}
        if not chat:
            columns["chat_required_features"] = []
        # a text request has no images; its row may reference objects all the same
        made = self._run(
            scene.request(
                self.client,
                hold=500 if hold else 0,
                is_chat=chat,
                jobs=1 if chat else jobs,
                max_length=64,
                **columns,
                **({"image_keys": keys} if keys else {}),
            )
        )
        if keys:
            self._run(scene.db.execute("UPDATE dispatch.waiting_prompts SET has_images = false WHERE id = $1", made))
        self.day.requests.append((made, chat))

    @rule(place=st.integers(0, 2), amount=st.integers(1, 2))
    def pop(self, place: int, amount: int) -> None:
        """A worker asks for work: jobs it gets are nobody else's."""
        claimed = self._answer(self.horde.pop(self._pop(place, amount)), unless="WorkerMaintenance")
        if claimed is None:
            return
        known = {job.id for job in self.day.jobs}
        for text in claimed.generation_ids:
            generation = uuid.UUID(text)
            assert generation not in known
            streamed = claimed.chat and b"stream_progress" in claimed.payload
            self.day.jobs.append(Job(generation, self.owners[place], claimed.chat, streamed))
        if claimed.generation_ids:
            wanted = [uuid.UUID(text) for text in claimed.generation_ids]
            rows = self._rows(
                "SELECT fake, faulted, generation FROM dispatch.processing_gens WHERE id = ANY ($1)", wanted
            )
            assert len(rows) == len(wanted)
            assert all(row["fake"] == (place == 2) and row["generation"] is None for row in rows)

    @precondition(lambda self: self.day.jobs)
    @rule(place=st.integers(0, 99), text=st.text("ab é", min_size=1, max_size=8))
    def post(self, place: int, text: str) -> None:
        """A worker posts what it has so far."""
        job = self._job(place)
        word = self._refusal(self.horde.post(job.id, job.owner, job.posted + 1, text))
        assert word in {"", "ChatJobAborted", "ChatProgressNotStreaming", "ChatProgressCapReached"}
        assert word or job.streamed
        job.posted += not word

    @precondition(lambda self: self.day.jobs)
    @rule(place=st.integers(0, 99), length=st.integers(0, 300))
    def submit(self, place: int, length: int) -> None:
        """A worker hands a reply in: it counts exactly when the job still runs."""
        job = self._job(place)
        expected = self._fate(job, done="DuplicateGen", given_up="AbortedGen")
        assert self._refusal(self._reply(job, job.owner, "x" * length)) == expected

    @precondition(lambda self: self.day.jobs)
    @rule(place=st.integers(0, 99))
    def submit_for_another(self, place: int) -> None:
        """Somebody else's key, and a reply of the wrong form, are refused and change nothing of the job."""
        job = self._job(place)
        stranger = next(owner for owner in self.owners if owner != job.owner)
        before = self._standing(job)
        word = self._refusal(self._reply(job, stranger, "mine"))
        assert word == ("WrongCredentials" if before else "InvalidJobID")
        call = self.horde.dispatch.text if job.chat else self.horde.dispatch.reply
        wrong: Any = (job.id, job.owner, "text") if job.chat else (job.id, job.owner)
        expected = self._fate(job, done="DuplicateGen", given_up="AbortedGen") or "ChatSubmitInvalid"
        assert self._refusal(call(*wrong)) == expected
        assert self._standing(job) == before

    @precondition(lambda self: self.day.jobs)
    @rule(place=st.integers(0, 99))
    def give_up(self, place: int) -> None:
        """A worker gives a job up; a repeat is answered alike."""
        job = self._job(place)
        expected = self._fate(job, done="DuplicateGen", given_up="")
        assert self._refusal(self.horde.dispatch.fault(job.id, job.owner, chat=job.chat)) == expected
        again = self._standing(job)
        assert self._refusal(self.horde.dispatch.fault(job.id, job.owner, chat=job.chat)) == expected
        assert self._standing(job) == again

    @precondition(lambda self: self.day.requests)
    @rule(place=st.integers(0, 99))
    def cancel(self, place: int) -> None:
        """A client cancels; nothing of the request waits any more."""
        request, chat = self.day.requests[place % len(self.day.requests)]
        word = self._refusal(self.horde.dispatch.cancel(request, chat=chat))
        assert word in {"", "RequestNotFound"}
        if not word:
            status = self._run(self.horde.dispatch.status(request, chat=chat))
            assert status.waiting == 0 or status.faulted

    @rule(seconds=st.sampled_from([1, 40, 160, 400, 1300]))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.horde.dispatch.clock.advance(timedelta(seconds=seconds))

    @rule(name=st.sampled_from(sorted(_LOOPS)), together=st.booleans())
    def run_loop(self, name: str, *, together: bool) -> None:
        """A loop runs, in one replica or in two."""
        deps = self.horde.dispatch.deps

        async def passes() -> None:
            await asyncio.gather(*(_LOOPS[name](deps) for _ in range(2 if together else 1)))

        self._run(passes())

    @rule(on=st.booleans())
    def switch_maintenance(self, *, on: bool) -> None:
        """An admin switches the mode."""
        self._run(self.horde.dispatch.scene.db.execute("UPDATE moderation.settings SET maintenance = $1", on))

    @rule()
    def end_workers_maintenance(self) -> None:
        """Owners put their workers back to work."""
        self._run(self.horde.dispatch.scene.db.execute("UPDATE dispatch.workers SET maintenance = false"))

    @invariant()
    def what_must_always_hold(self) -> None:
        """Design, section 6."""
        self._run(self.horde.dispatch.settled())
        for name in ("check_sets", "check_balances", "check_holds"):
            assert self._rows(_LEDGER[name].sql) == []
        for statement in (_ADD_UP, _MISPLACED, _BADLY_SETTLED, _OVERDUE_HOLDS):
            assert self._rows(statement) == [], statement

    @invariant()
    def every_object_is_referenced_or_on_its_way_out(self) -> None:
        """No stored object is forgotten."""
        rows = self._rows(
            """SELECT unnest(image_keys) AS key FROM dispatch.waiting_prompts
               UNION SELECT object_key FROM dispatch.object_deletions"""
        )
        kept = {row["key"] for row in rows} | set(self.horde.dispatch.media.deleted)
        assert self.day.objects <= kept

    @invariant()
    def a_status_adds_up(self) -> None:
        """What clients are told of the newest requests is what is there."""
        for request, chat in self.day.requests[-2:]:
            told = self._answer(self.horde.dispatch.status(request, chat=chat), unless="RequestNotFound")
            if told is None:
                continue
            (row,) = self._rows(
                "SELECT jobs, n, faulted, cancelled FROM dispatch.waiting_prompts WHERE id = $1", request
            )
            assert told.finished == len(told.generations)
            assert told.faulted == row["faulted"]
            complete = row["n"] == 0 and told.processing == 0 and (told.finished == row["jobs"] or row["cancelled"])
            assert told.done == (row["faulted"] or complete)

    def _reply(self, job: Job, owner: Account, text: str) -> Coroutine[Any, Any, int]:
        if job.chat:
            return self.horde.dispatch.reply(job.id, owner, {"role": "assistant", "content": text})
        return self.horde.dispatch.text(job.id, owner, text)

    def _fate(self, job: Job, *, done: str, given_up: str) -> str:
        """What a worker is told that comes with this job now; empty while the job runs."""
        rows = self._rows(
            """SELECT g.generation IS NOT NULL AS done, g.faulted, w.maintenance FROM dispatch.processing_gens g
               JOIN dispatch.workers w ON w.id = g.worker_id WHERE g.id = $1""",
            job.id,
        )
        if not rows:
            return "InvalidJobID"
        (row,) = rows
        if row["faulted"]:
            return given_up
        return done if row["done"] and not row["maintenance"] else ""

    def _standing(self, job: Job) -> list[dict[str, Any]]:
        """The job and its request, but for the note of a refusal."""
        return self._rows(
            """SELECT g.generation, g.faulted, g.ended_at, g.kudos, g.lease_until, r.n, r.faulted AS request_faulted,
                      r.consumed_kudos, r.expiry, w.kudos AS worker_kudos, w.aborted_jobs, w.uncompleted_jobs
               FROM dispatch.processing_gens g JOIN dispatch.waiting_prompts r ON r.id = g.wp_id
               JOIN dispatch.workers w ON w.id = g.worker_id WHERE g.id = $1""",
            job.id,
        )


@pytest.mark.timeout(600)
def test_whatever_happens_no_job_no_kudo_and_no_object_is_lost(database: Database, redis_url: str) -> None:
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        horde = runner.run(stack.enter_async_context(serving(database, redis_url)))
        try:
            machine: Any = type("DaysHere", (Days,), {"horde": horde, "runner": runner})
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=_EXAMPLES,
                    stateful_step_count=_STEPS,
                    deadline=None,
                    suppress_health_check=list(HealthCheck),
                ),
            )
        finally:
            runner.run(stack.aclose())
