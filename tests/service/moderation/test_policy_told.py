"""The policy as people read it: the privacy document and the listing tell the windows that the pass goes by."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from horde_pb.admission.v1.admission_service_pb2 import FindAccountResponse
from horde_pb.moderation.v1 import retention_policy_pb2 as policy_pb
from horde_pb.moderation.v1 import review_service_pb2 as pb
from services.moderation.schedule import every_loop
from tests.fakes.running_gateway import running

POLICIES: list[dict[str, Any]] = [
    {},
    {
        "moderation_text_retention_days": 90,
        "moderation_ipaddr_retention_days": None,
        "moderation_evidence_ceiling_days": 180,
        "worker_suspicion_retention_days": 36_500,
        "moderation_access_log_retention_days": 7,
        "secret_key": "changeme",
    },
    {"moderation_text_retention_days": None, "moderation_ipaddr_retention_days": None},
    {
        "moderation_text_retention_days": 2,
        "moderation_ipaddr_retention_days": 2,
        "moderation_evidence_ceiling_days": 2,
        "worker_suspicion_retention_days": 3,
    },
]


ADD = (
    "INSERT INTO moderation.moderation_events (reason, outcome, submitted_prompt, created)"
    " VALUES ('model_rejection', 'rejected', 'words', now() - make_interval(days => $1, mins => $2)) RETURNING id"
)


async def what_a_pass_does(moderation: Any, kept: dict[str, int | None]) -> list[bool]:
    """Whether text, address and identity go, each a minute before its window and a minute after."""
    done = []
    flags = {"text_days": "text_redacted", "ipaddr_days": "ipaddr_redacted", "ceiling_days": "anonymized"}
    ages = [(flag, kept[name] or kept["ceiling_days"], minutes) for name, flag in flags.items() for minutes in (-1, 1)]
    events = [(flag, await moderation.owner.fetchval(ADD, days, minutes)) for flag, days, minutes in ages]
    (tick,) = [loop.run for loop in every_loop(moderation.deps) if loop.name == "retain"]
    await tick()
    for flag, event in events:
        query = f"SELECT {flag} FROM moderation.moderation_events WHERE id = $1"  # noqa: S608 - names of this function
        done.append(await moderation.owner.fetchval(query, event))
    return done


@pytest.mark.parametrize("settings", POLICIES)
async def test_the_privacy_document_the_listing_and_the_pass_go_by_one_policy(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]], redis_url: str, settings: dict[str, Any]
) -> None:
    async with serving_moderation(redis_url, **settings) as moderation, running() as gateway:
        gateway.desk.answers |= {
            "FindAccount": FindAccountResponse(id=9, username="mod#9", moderator=True),
            "GetRetentionPolicy": await moderation.call(
                moderation.review.GetRetentionPolicy, policy_pb.GetRetentionPolicyRequest()
            ),
            "ListEvents": await moderation.call(
                moderation.review.ListEvents, pb.ListEventsRequest(reviewer=pb.Reviewer(account_id=9), limit=1)
            ),
        }
        page = await gateway.client.get("/api/v2/operations/moderation/prompts", headers={"apikey": "a" * 22})
        paper = await gateway.client.get("/api/v2/documents/privacy?format=markdown")
        people = await gateway.client.get("/privacy")
        kept, written = page.json()["retention"], paper.json()["markdown"]
        assert await what_a_pass_does(moderation, kept) == [False, True] * 3
    in_force = moderation.deps.settings.retention
    assert kept == {name: getattr(in_force, name) for name in ("text_days", "ipaddr_days", "ceiling_days")}
    told = {days: "kept with the record" if days is None else f"{days} days" for days in kept.values()}
    assert f"* texts: {told[kept['text_days']]}\n" in written
    assert f"* addresses: {told[kept['ipaddr_days']]}\n" in written
    assert f"at most {told[kept['ceiling_days']]}\n" in written
    history = in_force.worker_suspicion_days
    assert (f"kept for {history} days" if history else "This history is kept indefinitely") in written
    assert f"a log which is kept for {in_force.access_log_days} days" in written
    assert ("No code of addresses is made" in written) is ("secret_key" in settings)
    assert f"* texts: {told[kept['text_days']]}".removeprefix("* ") in people.text
