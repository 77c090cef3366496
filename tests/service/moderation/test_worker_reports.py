"""RecordWorkerReport and RecordWorkerSuspicion: what is written down once, counted once, and told to moderators."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import redis.asyncio
from prometheus_client import REGISTRY

from horde.rpc.client import NeighbourUnavailable
from horde_pb.moderation.v1 import reports_service_pb2 as pb
from tests.fakes.discord import Webhook, webhook

ADDRESS = "2001:db8::1"
FRONTPAGE = "https://front.example"


@pytest.fixture
async def discord() -> AsyncIterator[Webhook]:
    async with webhook() as made:
        yield made


@pytest.fixture
async def moderation(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]], redis_url: str, discord: Webhook
) -> AsyncIterator[Any]:
    """Moderation with a webhook, and account 99 exempt from alerts."""
    changed = {
        "discord_problem_user_webhook": discord.url,
        "discord_paused_notice_webhook": discord.url,
        "moderation_frontpage_url": FRONTPAGE,
        "problem_job_alert_exempt_user_ids": (99,),
    }
    async with serving_moderation(redis_url, **changed) as served:
        await served.account("somebody")
        yield served


async def report(moderation: Any, **changed: Any) -> pb.RecordWorkerReportResponse:
    known: dict[str, Any] = {
        "request_id": str(uuid4()),
        "job_id": str(uuid4()),
        "worker_id": str(uuid4()),
        "worker_name": "a worker",
        "account_id": 1,
        "origin": ADDRESS,
        "models": ["m"],
        "submitted_prompt": "said",
        "effective_prompt": "got",
    }
    ask = pb.RecordWorkerReportRequest(**{**known, **changed})
    answer: pb.RecordWorkerReportResponse = await moderation.call(moderation.reports.RecordWorkerReport, ask)
    await moderation.deps.settle()
    return answer


async def earlier_jobs(moderation: Any, amount: int, *, hours_ago: float = 0.5, **changed: Any) -> None:
    """Problem jobs of account 1 and its address, which nobody was told of."""
    known = {"user_id": 1, "ipaddr": "2001:db8::/64", "proxied_account": None, **changed}
    await moderation.owner.execute(
        "INSERT INTO moderation.user_problem_jobs (user_id, ipaddr, proxied_account, worker_id, job_id, created)"
        " SELECT $1, $2, $3, gen_random_uuid(), gen_random_uuid(), now() - $4::interval FROM generate_series(1, $5)",
        known["user_id"],
        known["ipaddr"],
        known["proxied_account"],
        timedelta(hours=hours_ago),
        amount,
    )


async def jobs(moderation: Any) -> list[asyncpg.Record]:
    found: list[asyncpg.Record] = await moderation.owner.fetch("SELECT * FROM moderation.user_problem_jobs ORDER BY id")
    return found


async def test_a_report_is_an_event_and_a_problem_job(moderation: Any, discord: Webhook) -> None:
    before = captured()
    answer = await report(moderation, proxied_account="end user", origin="unknown", models=["a", "b\x00"])
    (event,) = await moderation.events()
    assert (answer.event_id, answer.problem_job_recorded) == (event["id"], True)
    assert (event["reason"], event["outcome"], event["text_state"]) == ("worker_csam", "censored", "pending")
    stages = (event["submitted_prompt"], event["moderation_prompt"], event["effective_prompt"])
    assert stages == ("said", None, "got")
    assert (event["user_id"], event["proxied_account"], event["origin_text"]) == (1, "end user", "unknown")
    assert event["models"] == '["a", "b\ufffd"]'
    (job,) = await jobs(moderation)
    assert (job["job_id"], job["worker_id"]) == (event["job_id"], event["worker_id"])
    assert (job["proxied_account"], job["ipaddr"], job["origin_text"]) == ("end user", None, "unknown")
    assert discord.told == []
    assert captured() == before + 1


def captured() -> float:
    labels = {"reason": "worker_csam", "text_state": "pending"}
    return REGISTRY.get_sample_value("horde_moderation_evidence_captured_total", labels) or 0.0


async def test_a_repeated_report_answers_the_first_event_and_writes_nothing(moderation: Any) -> None:
    job = str(uuid4())
    first = await report(moderation, job_id=job)
    again = await report(moderation, job_id=job, submitted_prompt="other", worker_id=str(uuid4()))
    assert (again.event_id, again.problem_job_recorded) == (first.event_id, False)
    (event,) = await moderation.events()
    assert event["submitted_prompt"] == "said"
    assert len(await jobs(moderation)) == 1


async def test_a_late_repeat_after_the_ceiling_is_a_new_event(moderation: Any) -> None:
    job = str(uuid4())
    first = await report(moderation, job_id=job)
    await moderation.owner.execute("UPDATE moderation.moderation_events SET job_id = NULL")
    assert (await report(moderation, job_id=job)).event_id != first.event_id


async def test_a_report_without_any_prompt_has_nothing_to_upload(moderation: Any) -> None:
    ask = {"submitted_prompt": None, "effective_prompt": None, "request_id": ""}
    await report(moderation, **ask)
    (event,) = await moderation.events()
    assert (event["text_state"], event["text_sha256"], event["request_id"]) == ("none", None, None)


async def test_a_report_counts_from_when_it_was_made_and_never_from_the_future(moderation: Any) -> None:
    ago, ahead = datetime.now(UTC) - timedelta(hours=3), datetime.now(UTC) + timedelta(hours=3)
    for moment in (ago, ahead):
        await report(moderation, reported=moment)
    first, second = [event["created"] for event in await moderation.events()]
    assert first == ago
    assert second < ahead
    assert (await jobs(moderation))[0]["created"] == ago


async def test_an_exempt_account_has_its_evidence_and_no_count(moderation: Any, discord: Webhook) -> None:
    await earlier_jobs(moderation, 300, user_id=99)
    answer = await report(moderation, account_id=99)
    assert (answer.event_id > 0, answer.problem_job_recorded) == (True, False)
    assert discord.told == []


async def test_moderators_are_told_above_the_threshold_and_only_once_an_hour(moderation: Any, discord: Webhook) -> None:
    await earlier_jobs(moderation, 49, ipaddr=None)
    await report(moderation, origin="unknown")
    assert discord.told == []
    event = (await report(moderation, origin="unknown", loras=["a lora"])).event_id
    (told,) = discord.told
    lines = told["content"].splitlines()
    assert lines[:3] == ["somebody\\#1", "51 reports in the past hour (threshold 50)", "muted for 1 hour"]
    assert lines[-3:] == ["LoRAs a lora", f"event {event}", f"{FRONTPAGE}/admin/review?tab=prompts&event_id={event}"]
    assert told["allowed_mentions"] == {"parse": []}
    await report(moderation, origin="unknown")
    assert len(discord.told) == 1


async def test_each_level_has_its_own_mute_and_a_report_tells_one(moderation: Any, discord: Webhook) -> None:
    await earlier_jobs(moderation, 60)
    await earlier_jobs(moderation, 200, hours_ago=5)
    for _ in range(5):
        await report(moderation)
    firsts = [told["content"].splitlines()[:2] for told in discord.told]
    assert [(who.split(" ")[0], what.split("past ")[1]) for who, what in firsts] == [
        ("somebody\\#1", "hour (threshold 50)"),
        ("somebody\\#1", "day (threshold 200)"),
        ("IP", "hour (threshold 50)"),
        ("IP", "day (threshold 200)"),
    ]
    assert not any("2001:db8" in told["content"] or "said" in told["content"] for told in discord.told)


async def test_a_message_that_was_not_taken_mutes_nothing(moderation: Any, discord: Webhook) -> None:
    await earlier_jobs(moderation, 60, ipaddr=None)
    discord.status = 500
    await report(moderation, origin="")
    discord.status = 204
    await report(moderation, origin="")
    assert len(discord.told) == 2
    await report(moderation, origin="")
    assert len(discord.told) == 2


async def test_mutes_end_with_their_hour_and_their_day(moderation: Any, discord: Webhook, redis_url: str) -> None:
    await earlier_jobs(moderation, 60, ipaddr=None)
    await report(moderation, origin="")
    async with redis.asyncio.Redis.from_url(redis_url) as client:
        (key,) = [key async for key in client.scan_iter("*_problem_notified")]
        assert key == b"user_1_hourly_problem_notified"
        assert 3590 < await client.ttl(key) <= 3600
    assert len(discord.told) == 1


async def test_end_users_of_a_service_are_counted_apart(moderation: Any, discord: Webhook) -> None:
    await earlier_jobs(moderation, 60, ipaddr=None, proxied_account="one")
    await report(moderation, origin="", proxied_account="two")
    assert discord.told == []
    await report(moderation, origin="", proxied_account="one")
    assert len(discord.told) == 1
    assert "one" not in discord.told[0]["content"].splitlines()[0]


async def test_jobs_of_an_administrator_are_events_and_count_against_nobody(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]], redis_url: str, discord: Webhook
) -> None:
    changed = {"discord_problem_user_webhook": discord.url, "admins": ("boss#1",)}
    async with serving_moderation(redis_url, **changed) as moderation:
        await moderation.account("boss")
        await earlier_jobs(moderation, 60)
        answer = await report(moderation, account_id=1)
        assert (answer.event_id, answer.problem_job_recorded) == ((await moderation.events())[0]["id"], False)
        assert len(await jobs(moderation)) == 60
        assert discord.told == []


async def test_of_the_anonymous_account_only_the_address_is_told(moderation: Any, discord: Webhook) -> None:
    await moderation.owner.execute(
        "INSERT INTO admission.users (id, username, oauth_id, api_key) VALUES (0, 'Anonymous', 'anon', 'anon')"
        " ON CONFLICT DO NOTHING"
    )
    await earlier_jobs(moderation, 60, user_id=0)
    await report(moderation, account_id=0)
    await report(moderation, account_id=0)
    (told,) = discord.told
    assert told["content"].startswith("IP subject ")
    assert "latest account Anonymous\\#0" in told["content"]


async def test_a_report_whose_evidence_cannot_be_written_is_counted_and_says_so(
    moderation: Any, discord: Webhook, capfd: pytest.CaptureFixture[str]
) -> None:
    await earlier_jobs(moderation, 60, ipaddr=None)
    await moderation.owner.execute(
        "ALTER TABLE moderation.moderation_events ADD CONSTRAINT broken CHECK (reason <> 'worker_csam')"
    )
    answer = await report(moderation, origin="", submitted_prompt="SECRET PROMPT")
    assert (answer.HasField("event_id"), answer.problem_job_recorded) == (False, True)
    assert discord.told[0]["content"].splitlines()[-1] == "the evidence could not be written"
    said = "".join(capfd.readouterr())
    assert "CheckViolationError" in said
    assert "SECRET" not in said


async def test_without_the_database_the_report_is_to_be_sent_again(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]], redis_url: str
) -> None:
    nowhere = {"database_url": "postgresql://nobody@127.0.0.1:1/none", "database_wait_seconds": 1}
    async with serving_moderation(redis_url, **nowhere) as moderation:
        with pytest.raises(NeighbourUnavailable):
            await report(moderation)


async def test_a_suspicion_is_one_line_of_the_history_however_often_it_is_sent(
    moderation: Any, discord: Webhook
) -> None:
    happened = datetime.now(UTC) - timedelta(minutes=5)
    ask = pb.RecordWorkerSuspicionRequest(
        report_id=str(uuid4()),
        worker_id=str(uuid4()),
        worker_name="w" * 150,
        account_id=1,
        suspicion_id=5,
        detail="200.0 tokens per second\x00",
    )
    ask.happened.FromDatetime(happened)
    for _ in range(2):
        await moderation.call(moderation.reports.RecordWorkerSuspicion, ask)
    (row,) = await moderation.owner.fetch("SELECT * FROM moderation.worker_suspicion_events")
    assert (row["worker_name"], row["user_id"], row["suspicion_id"]) == ("w" * 100, 1, 5)
    assert (row["detail"], row["created"]) == ("200.0 tokens per second\ufffd", happened)
    assert discord.told == []


async def test_moderators_are_told_of_a_worker_that_its_suspicions_paused(moderation: Any, discord: Webhook) -> None:
    ask = pb.RecordWorkerSuspicionRequest(
        report_id=str(uuid4()),
        worker_id=str(uuid4()),
        worker_name="@everyone",
        account_id=1,
        suspicion_id=9,
        detail="too many",
        paused=True,
    )
    for _ in range(2):
        await moderation.call(moderation.reports.RecordWorkerSuspicion, ask)
        await moderation.deps.settle()
    (told,) = discord.told
    assert told["content"].startswith("Worker \\@everyone (")
    assert "of somebody\\#1 is paused" in told["content"]
