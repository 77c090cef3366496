"""Webhooks of text requests: told of each stored reply, tried three times, and never in a worker's way."""

import asyncio
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.contract.refusal import Refusal
from horde.failures import Outage
from tests.fakes.dispatch_scene import MODEL, Account
from tests.fakes.dispatch_service import Dispatch, serving
from tests.fakes.receiver import Receiver, receiving
from tests.servers import Database


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


def outcomes(outcome: str) -> float:
    return REGISTRY.get_sample_value("horde_webhook_outcomes_total", {"outcome": outcome}) or 0.0


def attempts(number: int, outcome: str, status: str) -> float:
    labels = {"attempt": str(number), "outcome": outcome, "status_code": status}
    return REGISTRY.get_sample_value("horde_webhook_attempt_duration_seconds_count", labels) or 0.0


async def a_job(
    dispatch: Dispatch, webhook: str, *, request: dict[str, Any] | None = None, **generation: Any
) -> tuple[uuid.UUID, uuid.UUID, Account]:
    """The request, its job and the owner of the worker that has it."""
    owner = await dispatch.scene.account(trusted=True)
    worker = await dispatch.scene.worker(owner)
    wanted = {"is_chat": False, "chat_required_features": [], "webhook": webhook, **(request or {})}
    asked = await dispatch.scene.request(await dispatch.scene.account(), **wanted)
    return asked, await dispatch.scene.generation(asked, worker, **generation), owner


async def test_each_stored_reply_is_posted_as_its_status_shows_it_with_request_id_and_kudos(
    database: Database, receiver: Receiver
) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        request, first, owner = await a_job(dispatch, receiver.url, request={"jobs": 2})
        worker = (await dispatch.scene.row("dispatch.processing_gens", first))["worker_id"]
        named = (await dispatch.scene.row("dispatch.workers", worker))["name"]
        second = await dispatch.scene.generation(request, worker)
        reward = await dispatch.text(first, owner, "Once upon a time, größer.", seed=7)
        await dispatch.called()
        assert receiver.told == [
            {
                "id": str(first),
                "request": str(request),
                "kudos": reward / 100,
                "worker_id": str(worker),
                "worker_name": named,
                "model": MODEL,
                "state": "ok",
                "text": "Once upon a time, größer.",
                "seed": 7,
                "gen_metadata": [],
            }
        ]
        assert receiver.asked == ["POST /hooks/1?token=a-secret"]
        assert receiver.heads[0]["content-type"] == "application/json"
        assert not receiver.heads[0].keys() & {"apikey", "authorization", "cookie", "traceparent"}
        await dispatch.text(second, owner, "The end.")
        await dispatch.called()
        assert [told["text"] for told in receiver.told] == ["Once upon a time, größer.", "The end."]


@pytest.mark.parametrize("state", ["censored", "csam"])
async def test_a_censored_reply_is_told_with_the_state_and_metadata_of_its_status(
    database: Database, receiver: Receiver, state: str
) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        request, job, owner = await a_job(dispatch, receiver.url)
        reward = await dispatch.text(job, owner, "", state=state)
        await dispatch.called()
        (told,), (shown,) = receiver.told, (await dispatch.status(request, chat=False)).generations
        assert told["state"] == shown.state == state
        assert bool(told["gen_metadata"]) is (state == "csam")
        assert told["kudos"] == reward / 100 > 0


async def test_a_receiver_is_tried_three_times_and_no_more(database: Database, receiver: Receiver) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        _, job, owner = await a_job(dispatch, receiver.url)
        given_up, third = outcomes("giveup"), attempts(3, "http_error", "404")
        receiver.statuses[:] = [500, 503, 404, 200]
        assert await dispatch.text(job, owner, "told in vain") > 0
        await dispatch.called()
        assert (len(receiver.asked), receiver.told) == (3, [])
        assert (outcomes("giveup"), attempts(3, "http_error", "404")) == (given_up + 1, third + 1)


async def test_a_try_that_is_taken_is_the_last(database: Database, receiver: Receiver) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        _, job, owner = await a_job(dispatch, receiver.url)
        taken = outcomes("ok")
        receiver.statuses[:] = [500, 204]
        await dispatch.text(job, owner, "told at the second try")
        await dispatch.called()
        assert [told["text"] for told in receiver.told] == ["told at the second try"]
        assert len(receiver.asked) == 2
        assert outcomes("ok") == taken + 1


async def test_a_silent_receiver_is_waited_for_three_seconds_and_the_worker_not_at_all(
    database: Database, receiver: Receiver
) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        _, job, owner = await a_job(dispatch, receiver.url)
        silent = attempts(1, "exception", "")
        receiver.pauses[:] = [4.0]
        began = time.monotonic()
        await dispatch.text(job, owner, "told late")
        assert attempts(1, "exception", "") == silent
        await dispatch.called()
        assert time.monotonic() - began > 2.5
        assert len(receiver.asked) == 2
        assert attempts(1, "exception", "") == silent + 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(database: Database, receiver: Receiver, status: int) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        _, job, owner = await a_job(dispatch, receiver.url)
        receiver.statuses[:] = [status] * 3
        await dispatch.text(job, owner, "not told elsewhere")
        await dispatch.called()
        assert receiver.asked == ["POST /hooks/1?token=a-secret"] * 3


@pytest.mark.parametrize("named", ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "receiver.test", "0x7f.1"])
async def test_a_receiver_at_an_address_that_is_not_public_is_never_connected_to(
    database: Database, receiver: Receiver, named: str
) -> None:
    async def resolve(host: str, _port: int) -> list[str]:
        return ["8.8.8.8", "127.0.0.1"] if host == "receiver.test" else ["127.0.0.1"]

    async with serving(database, receiver.web(resolve=resolve)) as dispatch:
        _, job, owner = await a_job(dispatch, receiver.url.replace("localhost", named))
        given_up = outcomes("giveup")
        assert await dispatch.text(job, owner, "kept inside") > 0
        await dispatch.called()
        assert (receiver.asked, outcomes("giveup")) == ([], given_up + 1)


async def test_a_certificate_that_is_not_the_hosts_is_not_told(database: Database, receiver: Receiver) -> None:
    with receiving() as stranger:
        async with serving(database, receiver.web(stranger.place)) as dispatch:
            _, job, owner = await a_job(dispatch, stranger.url)
            await dispatch.text(job, owner, "a secret")
            await dispatch.called()
            assert stranger.asked == []


@pytest.mark.parametrize("webhook", ["https://user:password@localhost/", "https://a..b/", "https://localhost:99999/"])
async def test_an_address_that_nobody_can_call_is_given_up_without_a_try(
    database: Database, receiver: Receiver, webhook: str
) -> None:
    async with serving(database, receiver.web("localhost:443", "a..b:443")) as dispatch:
        _, job, owner = await a_job(dispatch, webhook)
        given_up = outcomes("giveup")
        assert await dispatch.text(job, owner, "nobody hears it") > 0
        await dispatch.called()
        assert outcomes("giveup") == given_up + 1


async def test_what_no_status_shows_is_not_told(database: Database, receiver: Receiver) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        _, fake, owner = await a_job(dispatch, receiver.url, fake=True)
        assert await dispatch.text(fake, owner, "of a tricked worker") > 0
        _, faulted, faulty = await a_job(dispatch, receiver.url)
        await dispatch.fault(faulted, faulty, chat=False)
        with pytest.raises(Refusal):
            await dispatch.text(faulted, faulty, "too late")
        await dispatch.called()
        assert receiver.asked == []


async def test_two_replicas_and_a_worker_that_submits_twice_tell_once(database: Database, receiver: Receiver) -> None:
    web = receiver.web(receiver.place)
    async with serving(database, web) as one, serving(database, web) as other:
        _, job, owner = await a_job(one, receiver.url)
        calls = [replica.text(job, owner, "said once") for replica in (one, other, one, other)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(answer, Refusal) for answer in answers) == 3
        await one.called()
        await other.called()
        assert [told["text"] for told in receiver.told] == ["said once"]


async def test_a_reply_whose_commit_fails_is_not_told(database: Database, receiver: Receiver) -> None:
    async with serving(database, receiver.web(receiver.place)) as dispatch:
        _, job, owner = await a_job(dispatch, receiver.url)
        await dispatch.scene.db.execute(
            "ALTER TABLE dispatch.processing_gens ADD CONSTRAINT never CHECK (generation IS NULL) NOT VALID"
        )
        with pytest.raises(Outage):
            await dispatch.text(job, owner, "lost")
        await dispatch.called()
        assert receiver.asked == []
