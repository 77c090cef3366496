"""SubmitResult: what a reply changes, what a second one doesn't, and every way to be refused."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from horde.contract import pricing, reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from tests.fakes.dispatch_scene import MODEL
from tests.fakes.dispatch_service import serving
from tests.servers import Database

CALL = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOLS = [{"type": "function", "function": {"name": "look"}}, {"type": "function", "function": {"name": "listen"}}]


async def test_a_stored_reply_pays_the_worker_charges_the_requester_and_completes_the_request(
    database: Database,
) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        asker, owner = await scene.account(), await scene.account(trusted=True)
        worker, text = await scene.worker(owner), "y" * 400
        request = await scene.request(asker, hold=5000)
        generation = await scene.generation(request, worker, streamed=True)
        dispatch.clock.advance(timedelta(seconds=10))
        reward = await dispatch.reply(
            generation, owner, {"role": "assistant", "content": text}, counts={"prompt_tokens": 7}, seed=11
        )
        await dispatch.settled()
        expected = pricing.reward(
            reply_characters=400,
            prompt_characters=2048,
            max_length=512,
            multiplier=13.0,
            validated_backend=True,
            owner_trusted=True,
        )
        assert reward == expected
        status = await dispatch.status(request)
        (shown,) = status.generations
        assert (status.done, status.finished, status.waiting, status.processing) == (True, 1, 0, 0)
        assert (shown.text, shown.seed, shown.prompt_tokens, shown.charge_basis) == (text, 11, 7, "output_estimate")
        assert json.loads(shown.message) == {"role": "assistant", "content": text}
        assert not shown.HasField("completion_tokens")
        assert shown.kudos_hundredths == status.kudos_hundredths == reward + pricing.BURN
        stored = await scene.row("dispatch.workers", worker)
        assert (stored["kudos"], stored["contributions"], stored["fulfilments"]) == (reward, 512, 1)
        assert (await scene.row("admission.users", owner.id))["kudos"] == 100_000 + reward
        assert (await scene.row("admission.users", asker.id))["kudos"] == 100_000 - reward - pricing.BURN
        assert (await scene.row("admission.kudos_reservations", request, "request_id"))["released_at"] is not None
        assert (await scene.row("dispatch.worker_performances", worker, "worker_id"))["performance"] == 10.0
        assert (await scene.row("dispatch.model_performances", MODEL, "model"))["performance"] == 10.0
        assert await scene.ledger_sum() == 0
        assert dispatch.progress.events(str(request)) == [("generation", 1), ("done", 1)]
        assert dispatch.progress.closed == [(str(generation), False)]


async def test_the_lease_of_a_streamed_job_is_gone_when_its_reply_or_fault_is_answered(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner)
        handed_in, given_up = [
            await scene.generation(await scene.request(owner), worker, streamed=True) for _ in range(2)
        ]
        dispatch.progress.ends_in = 0.05
        await dispatch.reply(handed_in, owner)
        assert dispatch.progress.closed == [(str(handed_in), False)]
        await dispatch.fault(given_up, owner)
        assert dispatch.progress.closed[1:] == [(str(given_up), True)]


async def test_two_replies_at_once_are_stored_and_paid_once(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        asker, owner = await scene.account(), await scene.account(trusted=True)
        generation = await scene.generation(await scene.request(asker), await scene.worker(owner))
        answers = await asyncio.gather(*(dispatch.reply(generation, owner) for _ in range(6)), return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, Refusal)]
        assert len(refused) == 5
        assert all(refusal.reason is reasons.DUPLICATE_GEN for refusal in refused)
        assert all("already submitted" in refusal.message for refusal in refused)
        paid = next(answer for answer in answers if isinstance(answer, int))
        assert (await scene.row("admission.users", owner.id))["kudos"] == 100_000 + paid


async def test_a_duplicate_of_a_worker_in_maintenance_is_answered_with_nothing(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        worker = await scene.worker(owner, maintenance=True)
        generation = await scene.generation(await scene.request(owner), worker)
        assert await dispatch.reply(generation, owner) > 0
        assert await dispatch.reply(generation, owner) == 0


async def test_a_reply_to_a_fake_job_is_rewarded_in_words_alone(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account(trusted=True)
        worker = await scene.worker(owner)
        request = await scene.request(await scene.account())
        generation = await scene.generation(request, worker, fake=True, streamed=True)
        assert await dispatch.reply(generation, owner) > 0
        await dispatch.settled()
        status = await dispatch.status(request)
        assert (status.finished, status.waiting, status.done, len(status.generations)) == (0, 1, False, 0)
        assert (await scene.row("dispatch.workers", worker))["kudos"] == 0
        assert (await scene.row("admission.users", owner.id))["kudos"] == 100_000
        assert dispatch.progress.signals == []
        with pytest.raises(Refusal) as again:
            await dispatch.reply(generation, owner)
        assert again.value.reason is reasons.DUPLICATE_GEN


@pytest.mark.parametrize("wanted", ["00000000-0000-4000-8000-000000000000", "no uuid", "", "\0"])
async def test_an_unknown_job_is_not_found(database: Database, wanted: str) -> None:
    async with serving(database) as dispatch:
        owner = await dispatch.scene.account()
        for call in (dispatch.reply(wanted, owner), dispatch.fault(wanted, owner)):
            with pytest.raises(Refusal) as refused:
                await call
            assert refused.value.reason is reasons.INVALID_JOB_ID


async def test_the_key_has_to_be_known_and_the_workers_owners(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner, other = await scene.account(), await scene.account()
        generation = await scene.generation(await scene.request(other), await scene.worker(owner))
        unknown = type(owner)(0, "nobody's")
        for caller, reason in ((unknown, reasons.INVALID_API_KEY), (other, reasons.WRONG_CREDENTIALS)):
            for call in (dispatch.reply(generation, caller), dispatch.fault(generation, caller)):
                with pytest.raises(Refusal) as refused:
                    await call
                assert refused.value.reason is reason


async def test_a_reply_to_a_faulted_job_is_told_its_lease_before_it_is_read(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner)
        generation = await scene.generation(request, await scene.worker(owner))
        await dispatch.fault(generation, owner)
        with pytest.raises(Refusal) as refused:
            await dispatch.reply(generation, owner, {"role": "nonsense"})
        assert refused.value.reason is reasons.ABORTED_GEN
        assert "150 seconds" in refused.value.message
        assert (await scene.row("dispatch.waiting_prompts", request))["chat_fault_reason"] is None


@pytest.mark.parametrize(
    ("extras", "message", "changed", "reason"),
    [
        ({}, {"role": "user", "content": "x"}, {}, reasons.CHAT_SUBMIT_INVALID),
        ({}, None, {"model_id": None}, reasons.CHAT_SUBMIT_INVALID),
        ({}, None, {"model_id": "another"}, reasons.CHAT_MODEL_MISMATCH),
        ({}, None, {"generation": "text beside it"}, reasons.CHAT_SUBMIT_INVALID),
        ({}, None, {"chat": False}, reasons.CHAT_SUBMIT_INVALID),
        ({}, {"role": "assistant", "tool_calls": [CALL]}, {}, reasons.CHAT_SUBMIT_INVALID),
        ({"tools": TOOLS, "tool_choice": "required"}, None, {}, reasons.CHAT_SUBMIT_NONCONFORMANT),
        ({"response_format": {"type": "json_object"}}, None, {}, reasons.CHAT_SUBMIT_NONCONFORMANT),
    ],
)
async def test_a_refused_reply_leaves_the_job_pending_and_its_reason_on_the_request(
    database: Database, extras: dict[str, Any], message: object, changed: dict[str, Any], reason: Reason
) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner, chat_extras=extras)
        generation = await scene.generation(request, await scene.worker(owner))
        with pytest.raises(Refusal) as refused:
            await dispatch.reply(generation, owner, message, **changed)
        assert refused.value.reason is reason
        stored = await scene.row("dispatch.waiting_prompts", request)
        assert (stored["chat_fault_reason"], stored["chat_fault_rc"]) == (refused.value.message, reason.word)
        pending = await scene.row("dispatch.processing_gens", generation)
        assert (pending["chat_refusal_rc"], pending["generation"], pending["faulted"]) == (reason.word, None, False)
        assert not (await dispatch.status(request)).HasField("fault_reason")


@pytest.mark.parametrize(
    ("content", "schema", "passes"),
    [
        ('{"shade": "red"}', {"type": "object", "required": ["shade"]}, True),
        ('{"shade": 1}', {"type": "object", "properties": {"shade": {"type": "string"}}}, False),
        ("{}", {"$ref": "https://example.invalid/schema"}, False),
        ("{}", {"type": "no such type"}, False),
    ],
)
async def test_a_strict_schema_decides_and_is_never_fetched(
    database: Database, content: str, schema: dict[str, Any], passes: bool
) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        described = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": schema}}
        request = await scene.request(owner, chat_extras={"response_format": described})
        generation = await scene.generation(request, await scene.worker(owner))
        reply = dispatch.reply(generation, owner, {"role": "assistant", "content": content})
        if passes:
            assert await reply > 0
            return
        with pytest.raises(Refusal) as refused:
            await reply
        assert refused.value.reason is reasons.CHAT_SUBMIT_NONCONFORMANT
        assert ("cannot be compiled" in refused.value.message) == ("shade" not in content)


async def test_only_the_first_call_is_stored_where_parallel_calls_are_off(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner, chat_extras={"tools": TOOLS, "parallel_tool_calls": False})
        generation = await scene.generation(request, await scene.worker(owner))
        await dispatch.reply(
            generation,
            owner,
            {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "b"}]},
            finish_reason="tool_calls",
        )
        (shown,) = (await dispatch.status(request)).generations
        assert json.loads(shown.message) == {"role": "assistant", "content": None, "tool_calls": [CALL]}
        assert (shown.text, shown.finish_reason) == ("", "tool_calls")


async def test_a_censored_reply_is_paid_and_costs_its_burn_alone(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        asker, owner = await scene.account(), await scene.account(trusted=True)
        request = await scene.request(asker)
        generation = await scene.generation(request, await scene.worker(owner))
        reward = await dispatch.reply(generation, owner, state="csam")
        (shown,) = (await dispatch.status(request)).generations
        assert (shown.state, json.loads(shown.gen_metadata)) == ("csam", [{"type": "censorship", "value": "csam"}])
        assert (await scene.row("admission.users", owner.id))["kudos"] == 100_000 + reward
        assert (await scene.row("admission.users", asker.id))["kudos"] == 100_000 - pricing.BURN
        assert await scene.ledger_sum() == 0


async def test_a_text_reply_is_stored_as_text_and_publishes_nothing(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        owner = await scene.account()
        request = await scene.request(owner, is_chat=False, jobs=2, chat_required_features=[])
        worker = await scene.worker(owner)
        first, second = [await scene.generation(request, worker) for _ in range(2)]
        with pytest.raises(Refusal) as refused:
            await dispatch.text(first, owner, "x", message=b'{"role": "assistant", "content": "x"}', chat=True)
        assert refused.value.reason is reasons.CHAT_SUBMIT_INVALID
        assert await dispatch.text(first, owner, "once\0upon") > 0
        assert not (await dispatch.status(request, chat=False)).done
        await dispatch.text(second, owner, "")
        await dispatch.settled()
        status = await dispatch.status(request, chat=False)
        assert status.done
        assert sorted(shown.text for shown in status.generations) == ["", "once\N{REPLACEMENT CHARACTER}upon"]
        assert dispatch.progress.signals == []


async def test_a_neighbour_that_is_away_never_fails_a_submit(database: Database) -> None:
    async with serving(database) as dispatch:
        scene = dispatch.scene
        dispatch.progress.is_broken = True
        owner = await scene.account()
        generation = await scene.generation(await scene.request(owner), await scene.worker(owner), streamed=True)
        assert await dispatch.reply(generation, owner) > 0
