"""A text submission through the real service: what is queued, and what is refused in which order."""

import json
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from prometheus_client import REGISTRY

from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as pb
from tests.fakes.admission_world import MODEL, AdmissionWorld, text

_DECISIONS = "horde_text_free_allowance_decisions_total"


def counted(name: str, **labels: str) -> float:
    """What a counter says now."""
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def refused(world: AdmissionWorld, body: Any, **caller: str) -> Refusal:
    """The refusal of a submission."""
    with pytest.raises(Refusal) as caught:
        await world.admit_text(body, **caller)
    return caught.value


def errors(no: Refusal) -> dict[str, str]:
    """What a validation error tells, by path."""
    return cast("dict[str, str]", no.facts["errors"])


async def test_a_text_request_is_queued_as_it_was_sent(world: AdmissionWorld) -> None:
    worker = await world.worker()
    params = {"n": 2, "max_length": 100, "max_context_length": 1024, "temperature": 0.7, "stop_sequence": ["\n"]}
    webhook = "https://example.org/told"
    answer = await world.admit_text(text(params={**params, "mirostat": 2}, webhook=webhook, workers=[str(worker)]))
    row = await world.row(answer.request_id)
    assert answer.outcome == pb.ADMIT_OUTCOME_QUEUED
    assert answer.message == ""
    assert (row["is_chat"], row["messages"], row["prompt"]) == (False, None, "Once upon a time")
    assert row["submitted_prompt"] == row["prompt"]
    assert (row["n"], row["jobs"], row["things"], row["total_usage"]) == (2, 2, 100, 200)
    assert (row["max_length"], row["max_context_length"]) == (100, 1024)
    assert json.loads(row["params"]) == {key: value for key, value in params.items() if key != "n"}
    assert row["webhook"] == webhook
    assert row["workers"] == [worker]
    assert row["active"]
    assert row["consumed_kudos"] == 100
    assert row["kudos"] // 100 == answer.kudos


async def test_the_defaults_are_those_of_text(world: AdmissionWorld) -> None:
    await world.worker()
    row = await world.row((await world.admit_text({"prompt": "hi"})).request_id)
    assert (row["max_length"], row["max_context_length"], row["n"], row["models"]) == (80, 2048, 1, [])
    waits = await world.sql.fetchval("SELECT model FROM dispatch.wp_models WHERE wp_id = $1", row["id"])
    assert waits == ""


async def test_every_wrong_value_is_told_by_its_dotted_path(world: AdmissionWorld) -> None:
    params = {"n": 21, "max_length": 15, "temperature": "hot", "top_p": 0, "sampler_order": [1, "a"], "rep_pen": True}
    no = await refused(world, {"params": params, "models": [""], "slow_workers": 1, "unknown": {"a": 1}})
    assert no.reason.key == "ValidationFailed"
    assert set(errors(no)) == {
        *("prompt", "params.n", "params.max_length", "params.temperature", "params.top_p"),
        *("params.sampler_order.1", "params.rep_pen", "models.0", "slow_workers"),
    }
    assert errors(no)["params.n"] == "21 is greater than the maximum of 20"


async def test_a_nul_is_refused_where_it_stands(world: AdmissionWorld) -> None:
    no = await refused(world, text("a\0b"))
    assert (no.reason.key, no.facts["param"]) == ("NulByteInPayload", "prompt")


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ({"style": "my style"}, "StyleNotFound"),
        ({"template_fields": {"a": "b"}}, "BadRequest"),
        ({"webhook": "http://example.org"}, "BadRequest"),
        ({"proxied_account": "somebody"}, "OnlyServiceAccountProxy"),
        ({"extra_source_images": [{}] * 6}, "TooManyExtraSourceImages"),
        ({"extra_source_images": [{}] * 2}, "MoreThanMinExtraSourceImage"),
        ({"extra_source_images": [{}]}, "InvalidExtraSourceImages"),
        ({"prompt": ""}, "MissingPrompt"),
        ({"workers": ["no uuid"]}, "WorkerNotFound"),
        ({"workers": [str(UUID(int=1))]}, "WorkerNotFound"),
        ({"disable_batching": True, "params": {"n": 2}}, "RequiresTrust"),
        ({"params": {"max_length": 200, "max_context_length": 100}}, "TokenOverflow"),
        ({"params": {"sampler_order": [0, 1, 2, 3, 4, 5, 5]}}, "MissingFullSamplerOrder"),
        ({"params": {"stop_sequence": [str(place) for place in range(129)]}}, "TooManyStopSequences"),
        ({"params": {"stop_sequence": ["x" * 2001]}}, "ExcessiveStopSequence"),
        ({"prompt": "x" * 9000, "context_fit": "reject"}, "PromptExceedsContext"),
    ],
)
async def test_what_only_a_text_submit_is_refused_for(world: AdmissionWorld, keys: Any, word: str) -> None:
    await world.worker()
    assert (await refused(world, text(**keys))).reason.key == word
    assert await world.count("dispatch.waiting_prompts") == 0
    assert await world.count("admission.kudos_ledger WHERE user_id = 0") == 0


async def test_the_first_refusal_of_the_order_wins(world: AdmissionWorld) -> None:
    world.moderation.timeouts["203.0.113.9"] = 60
    wrongs: list[tuple[str, dict[str, Any]]] = [
        ("StyleNotFound", {"style": "none such"}),
        ("PromptExceedsContext", {"context_fit": "reject"}),
        ("BadRequest", {"webhook": "ftp://x"}),
        ("OnlyServiceAccountProxy", {"proxied_account": "x"}),
        ("WorkerNotFound", {"workers": ["x"]}),
        ("RequiresTrust", {"disable_batching": True}),
        ("TimeoutIP", {"params": {"n": 2, "sampler_order": [1], "max_length": 80}}),
    ]
    body = text("x" * 9000)
    for _, keys in wrongs:
        body |= keys
    for word, keys in wrongs:
        assert (await refused(world, body)).reason.key == word
        body = {key: value for key, value in body.items() if key not in keys or key == "params"}


async def test_maintenance_comes_before_the_key(world: AdmissionWorld) -> None:
    assert (await refused(world, text(), key="x" * 22)).reason.key == "InvalidAPIKey"
    await world.sql.execute("UPDATE moderation.settings SET maintenance = true")
    assert (await refused(world, text(), key="x" * 22)).reason.key == "MaintenanceMode"


async def test_the_first_five_workers_count_and_a_sixth_to_avoid_is_refused(world: AdmissionWorld) -> None:
    workers = [str(await world.worker()) for _ in range(6)]
    row = await world.row((await world.admit_text(text(workers=workers))).request_id)
    assert [str(worker) for worker in row["workers"]] == workers[:5]
    for six in (workers, workers[:1] * 6):
        no = await refused(world, text(workers=six, worker_blacklist=True))
        assert set(errors(no)) == {"workers"}
    assert (await refused(world, text(workers=[*workers, str(uuid4())]))).reason.key == "WorkerNotFound"


async def test_the_concurrency_limit_counts_every_generation_asked_for(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000, concurrency=3)
    await world.admit_text(text(params={"n": 2}), key=client.api_key)
    assert (await refused(world, text(params={"n": 2}), key=client.api_key)).reason.key == "TooManyPrompts"
    assert (await world.admit_text(text(), key=client.api_key)).request_id


async def test_the_context_grows_only_when_asked_and_only_as_far_as_workers_have_it(world: AdmissionWorld) -> None:
    await world.worker(max_context_length=6000)
    await world.worker(max_context_length=30_000, accepts_prompt_jobs=False)
    ignored = await world.row((await world.admit_text(text("x" * 9000))).request_id)
    assert ignored["max_context_length"] == 2048
    grown = await world.row((await world.admit_text(text("x" * 9000, context_fit="grow"))).request_id)
    assert grown["max_context_length"] == 4096
    bound = await world.row((await world.admit_text(text("x" * 15_000, context_fit="grow"))).request_id)
    assert bound["max_context_length"] == 6000
    no = await refused(world, text("x" * 30_000, context_fit="grow"))
    assert (no.reason.key, "6000" in no.message) == ("PromptExceedsContext", True)
    alone = await refused(world, text("x" * 9000, context_fit="grow", models=["nobody/has-it"]))
    assert "2048" in alone.message


async def test_a_dry_run_quotes_what_it_resolved_and_stores_nothing(world: AdmissionWorld) -> None:
    await world.worker()
    body = text("x" * 9000, {"n": 3, "top_k": 5}, context_fit="grow")
    quote = await world.admit_text({**body, "dry_run": True})
    assert quote.outcome == pb.ADMIT_OUTCOME_QUOTED
    assert json.loads(quote.resolved) == {
        "prompt": "x" * 9000,
        "params": {"n": 3, "top_k": 5, "max_length": 80, "max_context_length": 4096},
        "models": [MODEL],
        "style": None,
        "estimated_prompt_tokens": 3000,
        "context_fit": "grow",
    }
    assert await world.count("dispatch.waiting_prompts") == 0
    assert (await world.admit_text(body)).kudos == quote.kudos


async def test_the_quote_follows_the_models_and_the_number_of_generations(world: AdmissionWorld) -> None:
    # ctx 3.4 at 2048: listed 13B 80 * 13 * 3.4 / 100, any model the same, unknown 80 * 0.027 * 3.4
    for body, kudos in (
        (text(dry_run=True), 37),
        (text(dry_run=True, models=[]), 37),
        (text(dry_run=True, models=["nobody/has-it"]), 9),
        (text(dry_run=True, params={"n": 2}), 74),
    ):
        assert (await world.admit_text(body)).kudos == kudos


async def test_nobody_to_serve_it_is_said_but_an_unknown_model_is_not_refused(world: AdmissionWorld) -> None:
    answer = await world.admit_text(text(models=["nobody/has-it"]))
    assert answer.request_id
    assert answer.message


async def test_moderations_rewrite_is_queued_and_the_sent_prompt_kept(world: AdmissionWorld) -> None:
    await world.worker()
    client = await world.account(kudos=1000, flagged=True)
    world.moderation.replaces["bad"] = "good"
    row = await world.row((await world.admit_text(text("a bad word"), key=client.api_key)).request_id)
    assert (row["prompt"], row["submitted_prompt"]) == ("a good word", "a bad word")
    assert list(world.moderation.screened[0].texts) == ["a bad word"]


async def test_filters_judge_text_too(world: AdmissionWorld) -> None:
    await world.worker()
    world.moderation.is_filtering = True
    await world.deps.policy.refresh()
    await world.admit_text(text())
    assert world.moderation.screened[0].prompt == "Once upon a time"


async def test_a_service_may_name_the_account_it_speaks_for(world: AdmissionWorld) -> None:
    await world.worker()
    service = await world.account("front", service=True, kudos=1000)
    row = await world.row((await world.admit_text(text(proxied_account="me#1"), key=service.api_key)).request_id)
    assert row["proxied_account"] == "me#1"


async def test_a_softprompt_is_served_only_by_workers_that_list_it(world: AdmissionWorld) -> None:
    await world.worker(softprompts=["mine"])
    assert not (await world.admit_text(text(softprompt="mine"))).message
    assert (await world.admit_text(text(softprompt="yours"))).message


async def test_what_was_decided_is_counted_as_text_but_not_for_dry_runs(world: AdmissionWorld) -> None:
    await world.worker(max_length=4096)
    client = await world.account(kudos=100)
    decisions = {"requested_bucket": "513-1024", "allowance_bucket": "2049-4096", "chat": "false"}
    labels = {"requester": "registered", "outcome": "downgraded", **decisions}
    fits = {"context_fit_mode": "ignore", "context_fit_outcome": "sent_overlong"}
    body = text("x" * 9000, {"max_length": 600}, slow_workers=False, allow_downgrade=True)
    before = counted(_DECISIONS, **labels), counted("horde_text_context_fit_total", **fits)
    await world.admit_text({**body, "dry_run": True}, key=client.api_key)
    assert counted(_DECISIONS, **labels) == before[0]
    await world.admit_text(body, key=client.api_key)
    assert counted(_DECISIONS, **labels) == before[0] + 1
    assert counted("horde_text_context_fit_total", **fits) == before[1] + 2
