"""A chat submission through the real service: what is queued, and what is refused in which order."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as pb
from tests.fakes.admission_world import MODEL, AdmissionWorld, chat


async def refused(world: AdmissionWorld, body: Any, **caller: str) -> Refusal:
    """The refusal of a submission."""
    with pytest.raises(Refusal) as caught:
        await world.admit(body, **caller)
    return caught.value


async def test_a_plain_request_is_queued_with_its_columns(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000)
    answer = await world.admit(chat(temperature=0.5, stop="x"), key=client.api_key)
    assert answer.outcome == pb.ADMIT_OUTCOME_QUEUED
    assert answer.message == ""
    row = await world.row(answer.request_id)
    assert row["active"]
    assert row["is_chat"]
    assert row["n"] == row["jobs"] == 1
    assert row["prompt"] == row["submitted_prompt"] == "user: hello"
    assert json.loads(row["messages"]) == [{"role": "user", "content": "hello"}]
    assert json.loads(row["params"]) == {
        "temperature": 0.5,
        "stop_sequence": ["x"],
        "max_length": 512,
        "max_context_length": 2048,
    }
    assert row["chat_required_features"] == ["prompt_overflow_refused"]
    assert row["user_id"] == client.id
    assert row["ipaddr"] == "203.0.113.9"
    assert row["client_agent"] == "tests:1:tests"
    assert row["consumed_kudos"] == 100
    assert row["kudos"] // 100 == answer.kudos or abs(row["kudos"] / 100 - answer.kudos) <= 0.5
    assert row["expiry"] - row["created"] == timedelta(seconds=1200)
    assert (await world.find(client.api_key)).kudos_hundredths == 100_000 - 100


async def test_the_anonymous_key_may_submit(world: AdmissionWorld) -> None:
    await world.worker()
    answer = await world.admit(chat())
    assert (await world.row(answer.request_id))["user_id"] == 0


async def test_an_unknown_key_is_refused_before_the_model_is_looked_at(world: AdmissionWorld) -> None:
    assert (await refused(world, chat(model="unknown"), key="x" * 22)).reason.key == "InvalidAPIKey"


async def test_an_unknown_model_is_named_with_its_path(world: AdmissionWorld) -> None:
    body = {**chat(), "models": [MODEL, "nobody/has-it"]}
    del body["model"]
    no = await refused(world, body)
    assert no.reason.key == "UnknownChatModel"
    assert no.message.startswith("'models[1]'")


async def test_a_longer_name_than_a_worker_can_have_is_no_known_model(world: AdmissionWorld) -> None:
    await world.worker()
    quantised = f"{MODEL}-aQ4_"
    longest = quantised + "b" * (255 - len(quantised))
    body = {**chat(), "models": [MODEL, longest]}
    del body["model"]
    assert (await world.admit(body)).request_id
    no = await refused(world, {**body, "models": [MODEL, longest + "b"]})
    assert (no.reason.key, no.facts["param"]) == ("UnknownChatModel", "models[1]")


async def test_schemas_are_stored_unchanged_whatever_their_numbers_are(world: AdmissionWorld) -> None:
    await world.worker(chat_features=["prompt_overflow_refused", "tools", "json_schema"])
    schema = {"type": "object", "properties": {"x": {"maximum": 2**64, "minimum": -(10**30), "multipleOf": 0.5}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    format_ = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}
    for more in ({"tools": [tool]}, {"response_format": format_}):
        admitted = await world.admit(chat(**more))
        assert json.dumps(schema["properties"]) in (await world.row(admitted.request_id))["chat_extras"]


async def test_a_known_model_that_nobody_serves_is_refused_at_once(world: AdmissionWorld) -> None:
    no = await refused(world, chat("x" * 100_000))
    assert no.reason.key == "NoEligibleWorker"
    assert no.message == f"No worker is currently serving the model '{MODEL}'."
    assert "impossible_reason" not in no.facts


async def test_an_unlisted_model_is_known_while_a_worker_serves_it(world: AdmissionWorld) -> None:
    await world.worker("home/made")
    assert (await world.admit(chat(model="home/made"))).request_id


async def test_a_worker_in_maintenance_serves_nothing(world: AdmissionWorld) -> None:
    await world.worker(maintenance=True)
    assert (await refused(world, chat())).reason.key == "NoEligibleWorker"


async def test_a_refused_request_changes_nothing(world: AdmissionWorld) -> None:
    client = await world.account(kudos=100)
    before = await world.count("admission.kudos_ledger")
    for body in (chat(model="unknown"), chat(), chat(horde={"operation_key": str(uuid4())})):
        await refused(world, body, key=client.api_key)
    assert await world.count("dispatch.waiting_prompts") == 0
    assert await world.count("admission.kudos_ledger") == before
    assert await world.count("admission.operation_claims") == 0


async def test_maintenance_mode_and_the_admission_flag_refuse(world: AdmissionWorld) -> None:
    await world.sql.execute("UPDATE moderation.settings SET maintenance = true")
    assert (await refused(world, chat())).reason.key == "MaintenanceMode"


async def test_max_tokens_above_every_worker_is_lowered_and_recorded(world: AdmissionWorld) -> None:
    await world.worker(chat_max_length=600)
    answer = await world.admit(chat(max_tokens=1024, horde={}), key=(await world.account(kudos=100_000)).api_key)
    row = await world.row(answer.request_id)
    assert row["max_length"] == row["things"] == 600
    assert json.loads(row["context_adjustments"]) == [{"from": 1024, "to": 600, "reason": "worker_max_length"}]


async def test_the_context_grows_to_fit(world: AdmissionWorld) -> None:
    await world.worker()
    answer = await world.admit(chat("x" * 9000))
    row = await world.row(answer.request_id)
    assert row["max_context_length"] == 4096
    assert json.loads(row["context_adjustments"]) == [{"from": 2048, "to": 4096, "reason": "grow"}]


async def test_the_oldest_turns_go_when_no_context_is_wide_enough(world: AdmissionWorld) -> None:
    await world.worker()
    messages = [{"role": "system", "content": "be brief"}]
    for turn in range(10):
        messages += [{"role": "user", "content": f"{turn}" * 3000}, {"role": "assistant", "content": "yes" * 1000}]
    messages.append({"role": "user", "content": "last"})
    answer = await world.admit({"model": MODEL, "messages": messages})
    row = await world.row(answer.request_id)
    kept = json.loads(row["messages"])
    assert kept[0]["role"] == "system"
    assert kept[1]["role"] == "user"
    assert kept[-1]["content"] == "last"
    grow, truncated = json.loads(row["context_adjustments"])
    assert grow == {"from": 2048, "to": 8192, "reason": "grow"}
    assert truncated["dropped_messages"] == len(messages) - len(kept)
    assert len(row["submitted_prompt"]) > len(row["prompt"])


async def test_reject_states_its_figures(world: AdmissionWorld) -> None:
    await world.worker()
    no = await refused(world, chat("x" * 9000, horde={"context_fit": "reject"}))
    assert no.reason.key == "PromptExceedsContext"
    assert "3002" in no.message


async def test_a_dry_run_quotes_and_stores_nothing(world: AdmissionWorld) -> None:
    await world.worker()
    answer = await world.admit(chat(horde={"dry_run": True}))
    assert answer.outcome == pb.ADMIT_OUTCOME_QUOTED
    resolved = json.loads(answer.resolved)
    assert resolved["estimated_prompt_tokens"] == 4
    assert resolved["context_fit"] == "grow"
    assert resolved["models"] == [MODEL]
    assert await world.count("dispatch.waiting_prompts") == 0
    queued = await world.admit(chat())
    assert queued.kudos == answer.kudos


async def test_max_kudos_caps_the_quote(world: AdmissionWorld) -> None:
    await world.worker()
    quote = (await world.admit(chat(horde={"dry_run": True}))).kudos
    assert (await world.admit(chat(horde={"max_kudos": quote}))).request_id
    no = await refused(world, chat(horde={"max_kudos": quote - 1}))
    assert no.reason.key == "ChatKudosCapExceeded"
    assert str(quote) in no.message


async def test_the_concurrency_limit_counts_what_waits(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000, concurrency=2)
    await world.admit(chat(), key=client.api_key)
    await world.admit(chat(), key=client.api_key)
    assert (await refused(world, chat(), key=client.api_key)).reason.key == "TooManyPrompts"


async def test_named_workers_have_to_exist(world: AdmissionWorld) -> None:
    worker = await world.worker()
    answer = await world.admit(chat(horde={"only": [str(worker)]}))
    assert (await world.row(answer.request_id))["workers"] == [worker]
    for unknown in (str(uuid4()), "no uuid"):
        no = await refused(world, chat(horde={"ignore": [unknown]}))
        assert no.reason.key == "WorkerNotFound"


async def test_nobody_eligible_is_said_in_the_answer(world: AdmissionWorld) -> None:
    await world.worker()
    answer = await world.admit(chat(seed=1))
    assert answer.message
    assert answer.request_id


async def test_images_are_stored_under_the_row_before_it_is_queued(world: AdmissionWorld) -> None:
    await world.worker(chat_features=["prompt_overflow_refused", "vision"], image_transports=["url"])
    url = "data:image/png;base64," + "A" * 400
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url, "detail": "low"}}]
    answer = await world.admit({"model": MODEL, "messages": [{"role": "user", "content": parts}]})
    row = await world.row(answer.request_id)
    key = f"{answer.request_id}_chat_0.jpg"
    stored = json.loads(row["messages"])[0]["content"][1]
    assert stored == {"type": "image_url", "image_url": {"url": f"horde-r2://{key}", "detail": "low"}}
    assert row["image_keys"] == [key]
    assert row["has_images"]
    assert row["active"]
    assert row["consumed_kudos"] == 600
    assert world.media.stored[0].urls == [url]
    assert world.media.stored[0].max_total_bytes == 5 * 1024 * 1024


async def test_images_that_cannot_be_stored_leave_nothing_behind(world: AdmissionWorld) -> None:
    await world.worker(chat_features=["prompt_overflow_refused", "vision"], image_transports=["url"])
    world.media.is_broken = True
    parts = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    body = {"model": MODEL, "messages": [{"role": "user", "content": parts}]}
    assert (await refused(world, body)).reason.key == "ChatImageStorageUnavailable"
    assert await world.count("dispatch.waiting_prompts") == 0
    assert await world.count("admission.kudos_ledger WHERE user_id = 0") == 0
    assert await world.count("dispatch.object_deletions") == 1


async def test_an_address_in_timeout_is_refused(world: AdmissionWorld) -> None:
    await world.worker()
    world.moderation.timeouts["203.0.113.66"] = 120
    no = await refused(world, chat(), remote_address="203.0.113.66")
    assert no.reason.key == "TimeoutIP"
    assert no.retry_after == 120


async def test_a_forwarded_address_counts_only_beside_a_known_passkey(world: AdmissionWorld) -> None:
    await world.worker()
    service = await world.account("front", service=True)
    await world.sql.execute("UPDATE admission.users SET proxy_passkey = 'open' WHERE id = $1", service.id)
    await world.deps.passkeys.refresh()
    for passkey, address in (("open", "198.51.100.7"), ("shut", "203.0.113.9")):
        answer = await world.admit(chat(), proxied_for="198.51.100.7", proxy_passkey=passkey)
        assert (await world.row(answer.request_id))["ipaddr"] == address


async def test_a_flagged_accounts_rewrite_is_what_is_stored(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000, flagged=True)
    world.moderation.replaces["bad"] = "good"
    answer = await world.admit(chat("a bad word"), key=client.api_key)
    row = await world.row(answer.request_id)
    assert json.loads(row["messages"])[0]["content"] == "a good word"
    assert row["prompt"] == "user: a good word"
    assert row["submitted_prompt"] == "user: a bad word"
    assert world.moderation.screened[0].request_id == answer.request_id


async def test_without_filters_moderation_is_not_asked(world: AdmissionWorld) -> None:
    await world.worker()
    await world.admit(chat())
    assert world.moderation.screened == []
    assert world.moderation.checked == ["203.0.113.9"]
