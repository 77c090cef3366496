"""The whole worker over real HTTP: a fake backend on one side, a fake horde on the other."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from starlette.responses import JSONResponse, Response

from horde.cli.worker.journal import Journal
from horde.cli.worker.options import WorkerOptions
from horde.cli.worker.running import Worker
from horde.failures import StartError
from tests.fakes.http_server import serving
from tests.fakes.openai_backend import FakeBackend, text
from tests.fakes.worker_horde import FakeHorde, a_job


@dataclass
class Stage:
    """Both sides, and the worker between them."""

    horde: FakeHorde
    backend: FakeBackend
    options: WorkerOptions
    lines: list[str]
    stop: asyncio.Event

    async def run(self, seconds: float = 10.0) -> None:
        async with asyncio.timeout(seconds):
            await Worker(self.options, self.stop, Journal(self.lines.append)).run()

    async def run_until_submitted(self) -> dict[str, Any]:
        """The first submit that the horde took or refused."""
        running = asyncio.create_task(self.run())
        async with asyncio.timeout(8):
            await self.horde.submitted.wait()
        self.stop.set()
        await running
        return self.horde.submits[-1]


@asynccontextmanager
async def staged(**changed: Any) -> AsyncIterator[Stage]:
    horde, backend = FakeHorde(), FakeBackend(props=changed.pop("props", None))
    async with serving(horde.app) as url, serving(backend.app) as backend_url:
        written: dict[str, Any] = {
            "url": url,
            "api_key": "key",
            "backend": backend_url,
            "model": "a model",
            "name": "w",
            "progress_every": timedelta(seconds=0.05),
            "grace": timedelta(seconds=2),
        }
        yield Stage(horde, backend, WorkerOptions(**{**written, **changed}), [], asyncio.Event())


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


async def until(is_so: Callable[[], bool]) -> None:
    """Waits until something is so, for five seconds at most."""
    async with asyncio.timeout(5):
        while not is_so():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.02)


def refusal(status: int, rc: str) -> Response:
    return JSONResponse({"message": f"{rc} it is", "rc": rc}, status)


async def test_a_job_is_popped_generated_and_submitted_as_the_sdk_builds_it(stage: Stage) -> None:
    stage.horde.jobs.append(job := a_job())
    submit = await stage.run_until_submitted()
    assert submit == {
        "id": job["id"],
        "model_id": "a model",
        "message": {"role": "assistant", "content": "Hello there"},
        "finish_reason": "stop",
        "native_finish_reason": "stop",
    }
    assert stage.backend.bodies[0]["model"] == "the-file.gguf"
    assert stage.horde.headers["apikey"] == "key"
    pop = stage.horde.pops[0]
    assert (pop["models"], pop["model_id"], pop["chat_jobs"], pop["prompt_jobs"]) == (
        ["a model"],
        "a model",
        True,
        False,
    )
    assert stage.horde.posts == []


async def test_once_means_one_job() -> None:
    async with staged(is_once=True) as once:
        once.horde.jobs.extend([a_job(), a_job()])
        await once.run()
        assert len(once.horde.submits) == 1


async def test_a_streamed_job_is_posted_while_it_grows_in_order_and_without_gaps(stage: Stage) -> None:
    stage.backend.chunks, stage.backend.pause = text(*(f"{number} " for number in range(12))), 0.04
    stage.horde.jobs.append(a_job(stream_progress=True))
    submit = await stage.run_until_submitted()
    posts = stage.horde.posts
    assert [post["seq"] for post in posts] == list(range(1, len(posts) + 1))
    assert len(posts) >= 3
    assert submit["message"]["content"].startswith("".join(post["delta"]["content"] for post in posts))


async def test_a_post_whose_answer_was_lost_is_sent_again_unchanged(stage: Stage) -> None:
    stage.backend.chunks, stage.backend.pause = text("a", "b", "c", "d", "e"), 0.1
    stage.horde.post_answers.extend([refusal(503, "ChatProgressUnavailable"), Response(status_code=502)])
    stage.horde.jobs.append(a_job(stream_progress=True))
    await stage.run_until_submitted()
    assert stage.horde.posts[0] == stage.horde.posts[1] == stage.horde.posts[2]


@pytest.mark.parametrize(
    "answer",
    [JSONResponse({"accepted_seq": 1, "cancelled": True}), refusal(404, "ChatJobAborted")],
    ids=["cancelled", "aborted"],
)
async def test_a_job_that_nobody_wants_any_more_is_dropped_without_a_submit(answer: Response) -> None:
    async with staged() as stage:
        stage.backend.chunks, stage.backend.pause = text(*"abcdefghijklmnopqrstuvwxyz"), 0.1
        stage.horde.post_answers.append(answer)
        stage.horde.jobs.append(a_job(stream_progress=True))
        running = asyncio.create_task(stage.run())
        await until(lambda: any("cancelled or aborted" in line for line in stage.lines))
        stage.stop.set()
        await running
        assert stage.horde.submits == []
        assert not stage.backend.is_stream_whole


@pytest.mark.parametrize(
    ("status", "rc"),
    [(404, "ChatProgressNotStreaming"), (413, "ChatProgressCapReached"), (409, "ChatProgressOutOfSequence")],
)
async def test_a_worker_told_to_stop_posting_still_submits(status: int, rc: str) -> None:
    async with staged() as stage:
        stage.backend.chunks, stage.backend.pause = text("a", "b", "c", "d"), 0.1
        stage.horde.post_answers.append(refusal(status, rc))
        stage.horde.jobs.append(a_job(stream_progress=True))
        assert (await stage.run_until_submitted())["message"]["content"] == "abcd"
        assert len(stage.horde.posts) == 1


async def test_a_refused_reply_is_faulted_as_such(stage: Stage) -> None:
    stage.horde.submit_answers.append(refusal(400, "ChatSubmitInvalid"))
    stage.horde.jobs.append(job := a_job())
    running = asyncio.create_task(stage.run())
    await until(lambda: len(stage.horde.submits) >= 2)
    stage.stop.set()
    await running
    assert stage.horde.submits[1] == {
        "id": job["id"],
        "state": "faulted",
        "model_id": "a model",
        "fault_reason": "reply_refused",
    }


async def test_a_submit_is_repeated_until_the_horde_answers_and_already_submitted_is_success(stage: Stage) -> None:
    already = JSONResponse({"message": "was already submitted", "rc": "DuplicateGen"}, 400)
    stage.horde.submit_answers.extend([Response(status_code=502), already])
    stage.horde.jobs.append(a_job())
    await stage.run_until_submitted()
    assert len(stage.horde.submits) == 2
    assert stage.horde.submits[0] == stage.horde.submits[1]
    assert any("0 kudos" in line for line in stage.lines)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ((400, {"error": {"type": "exceed_context_size_error"}}), "prompt_overflow"),
        ((500, {"error": {"message": "broken"}}), "generation_error"),
    ],
)
async def test_a_failing_backend_faults_the_job_with_its_reason(error: tuple[int, dict[str, Any]], reason: str) -> None:
    async with staged() as stage:
        stage.backend.error = error
        stage.horde.jobs.append(a_job())
        assert (await stage.run_until_submitted())["fault_reason"] == reason


async def test_a_stream_that_breaks_off_is_not_submitted_as_a_reply(stage: Stage) -> None:
    stage.backend.chunks = [*text("half", finish=None), {"error": {"message": "gone"}}]
    stage.horde.jobs.append(a_job())
    assert (await stage.run_until_submitted())["fault_reason"] == "generation_error"


async def test_a_prompt_that_cannot_fit_is_faulted_before_an_unknown_backend_could_cut_it(stage: Stage) -> None:
    stage.horde.jobs.append(a_job(messages=[{"role": "user", "content": "x" * 30000}]))
    assert (await stage.run_until_submitted())["fault_reason"] == "prompt_overflow"
    assert stage.backend.bodies == []


async def test_trouble_of_the_horde_is_waited_out_with_one_line_for_each_change(stage: Stage) -> None:
    patience = Response(status_code=429, headers={"retry-after": "0.05"})
    stage.horde.pop_answers.extend([Response(status_code=502), Response(status_code=502), patience, patience])
    stage.horde.jobs.append(a_job())
    await stage.run_until_submitted()
    assert sum("horde: the horde answers 502" in line for line in stage.lines) == 1
    assert sum("asks for patience" in line for line in stage.lines) == 1


@pytest.mark.parametrize(("status", "rc"), [(401, "InvalidAPIKey"), (400, "ChatDeclarationInvalid")])
async def test_a_worker_that_the_horde_will_never_serve_ends_with_the_reason(status: int, rc: str) -> None:
    async with staged() as stage:
        stage.horde.pop_answers.append(refusal(status, rc))
        with pytest.raises(StartError, match=rc):
            await stage.run()


async def test_a_leaving_worker_lets_a_job_end_within_its_grace(stage: Stage) -> None:
    stage.backend.chunks, stage.backend.pause = text("a", "b"), 0.3
    stage.horde.jobs.append(a_job())
    running = asyncio.create_task(stage.run())
    await until(lambda: bool(stage.backend.bodies))
    stage.stop.set()
    await running
    assert stage.horde.submits[0]["message"]["content"] == "ab"


async def test_a_job_that_outlasts_the_grace_is_handed_back() -> None:
    async with staged(grace=timedelta(seconds=0.1)) as stage:
        stage.backend.chunks, stage.backend.pause = text("a", "b"), 30.0
        stage.horde.jobs.append(a_job())
        running = asyncio.create_task(stage.run())
        await until(lambda: bool(stage.backend.bodies))
        stage.stop.set()
        await running
        assert stage.horde.submits[0]["fault_reason"] == "generation_error"


async def test_threads_work_side_by_side() -> None:
    async with staged(threads=3) as stage:
        stage.backend.chunks, stage.backend.pause = text("a", "b", "c"), 0.2
        stage.horde.jobs.extend(a_job() for _ in range(3))
        running = asyncio.create_task(stage.run())
        await until(lambda: len(stage.backend.bodies) >= 3)
        assert stage.horde.submits == []
        assert stage.horde.pops[0]["threads"] == 3
        stage.stop.set()
        await running
        assert len(stage.horde.submits) == 3


async def test_a_backend_that_is_not_there_is_waited_for() -> None:
    async with staged() as stage:
        stage.options = WorkerOptions(
            url=stage.options.url, api_key="k", backend="http://127.0.0.1:1", model="m", name="w"
        )
        running = asyncio.create_task(stage.run())
        await asyncio.sleep(0.6)
        stage.stop.set()
        await running
        assert [line.split(" ", 2)[2][:13] for line in stage.lines] == ["backend: away"]
        assert stage.horde.pops == []
