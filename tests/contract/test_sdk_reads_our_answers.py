"""horde-sdk's own models read every answer of the native routes: what they require is there."""

from typing import Any

import orjson
import pytest

from horde_pb.admission.v1 import account_details_pb2, accounts_service_pb2
from horde_pb.admission.v1 import admission_service_pb2 as admission
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import models_pb2, statistics_pb2, status_pb2, worker_review_pb2
from horde_pb.moderation.v1 import addresses_pb2, filters_pb2, retention_policy_pb2, review_service_pb2
from services.gateway.answers import Answer
from services.gateway.wire import addresses, chat, filters, models, pop, queues, review, submit, system, text


@pytest.fixture(scope="module")
def sdk() -> Any:
    """The SDK's models. The import runs the whole SDK, which takes seconds; its own warnings are not ours to mend."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from horde_sdk.ai_horde_api import apimodels
    return apimodels


def read(model: Any, answer: Answer) -> Any:
    return model.model_validate(orjson.loads(answer.body))


def test_a_status(sdk: Any) -> None:
    generation = status_pb2.GenerationStatus(
        id="g", worker_id="4f7d1c3e-6a55-4a0e-9d5c-3a6f1d2b7c90", worker_name="w", model="m", state="ok", text="hi"
    )
    status = status_pb2.RequestStatus(finished=1, done=True, kudos_hundredths=150, generations=[generation])
    told = read(sdk.TextGenerateStatusResponse, chat.status_answer(status))
    assert told.done
    assert told.generations[0].text == "hi"


def test_what_text_requests_are_answered(sdk: Any) -> None:
    request_id = "4f7d1c3e-6a55-4a0e-9d5c-3a6f1d2b7c90"
    queued = admission.AdmitTextResponse(outcome=admission.ADMIT_OUTCOME_QUEUED, request_id=request_id, kudos=3)
    assert str(read(sdk.TextGenerateAsyncResponse, text.submit_answer(queued)).id_) == request_id
    resolved = b'{"prompt":"a","params":{"n":1,"max_length":80},"models":[],"style":null,"context_fit":"ignore"}'
    quote = admission.AdmitTextResponse(outcome=admission.ADMIT_OUTCOME_QUOTED, kudos=3, resolved=resolved)
    assert read(sdk.TextGenerateAsyncDryRunResponse, text.submit_answer(quote)).kudos == 3
    told = read(sdk.TextGenerateStatusResponse, text.status_answer(status_pb2.RequestStatus(done=True)))
    assert told.done
    kept = admission.GetTextSubmissionResponse(submission=b'{"prompt":"a","params":{"n":2},"workers":[]}')
    assert read(sdk.GenerationSubmittedKobold, text.submission_answer(kept)).params.n == 2


def test_a_pop_with_and_without_a_job(sdk: Any) -> None:
    empty = read(sdk.TextGenerateJobPopResponse, pop.answer(dispatch.ClaimJobsResponse()))
    assert empty.ids == []
    claimed = dispatch.ClaimJobsResponse(
        generation_ids=["4f7d1c3e-6a55-4a0e-9d5c-3a6f1d2b7c90"],
        model="m",
        ttl_seconds=150,
        payload=b'{"prompt":"hi","n":1,"max_length":80,"max_context_length":2048}',
    )
    job = read(sdk.TextGenerateJobPopResponse, pop.answer(claimed))
    assert job.payload.prompt == "hi"


def test_a_reward_and_a_model_list(sdk: Any) -> None:
    assert read(sdk.JobSubmitResponse, submit.answer(dispatch.SubmitResultResponse(reward_hundredths=150))).reward
    listed = dispatch.ListModelsResponse(models=[models_pb2.ModelStatus(name="m", count=1)])
    told = read(sdk.HordeStatusModelsAllResponse, models.answer(listed, models.read({"type": "text"})))
    assert told.root[0].name == "m"


def test_text_statistics(sdk: Any) -> None:
    made = statistics_pb2.GetTextStatisticsResponse(
        day=statistics_pb2.Made(requests=2, tokens=160), models=[statistics_pb2.ModelMade(model="m", day=2, total=5)]
    )
    assert read(sdk.TextStatsModelsTotalResponse, system.text_totals_answer(made)).day == {"requests": 2, "tokens": 160}
    told = read(sdk.TextStatsModelResponse, system.text_models_answer(made))
    assert (told.day, told.month, told.total) == ({"m": 2}, {}, {"m": 5})


def test_filters_and_what_they_find(sdk: Any) -> None:
    one = filters_pb2.Filter(id=7, regex="bad.*", filter_type=10, user="mod#1")
    listed = read(sdk.FiltersListResponse, filters.list_answer(filters_pb2.ListFiltersResponse(filters=[one])))
    assert (listed.root[0].id_, listed.root[0].regex) == ("7", "bad.*")
    assert read(sdk.FilterDetails, filters.one_answer(one)).user == "mod#1"
    found = filters_pb2.MatchFiltersResponse(suspicion=1, matches=["bad"])
    assert read(sdk.FilterPromptSuspicionResponse, filters.match_answer(found)).matches == ["bad"]
    in_force = filters_pb2.ListCompiledFiltersResponse(
        compiled=[filters_pb2.CompiledFilters(filter_type=10, regex="a")]
    )
    assert read(sdk.FilterRegexResponse, filters.compiled_answer(in_force)).root[0].filter_type == 10
    assert read(sdk.DeleteFilterResponse, filters.DELETED).message == "OK"


def test_addresses_that_are_kept_out(sdk: Any) -> None:
    out = [addresses_pb2.AddressTimeout(address="9.8.0.0/16", seconds=60)]
    assert read(sdk.IPTimeoutListResponse, addresses.timeouts_answer(out)).root[0].seconds == 60
    assert read(sdk.BlockIPAddressResponse, addresses.DONE).message == "OK"
    blocked = addresses_pb2.BlockWorkerAddressResponse(blocked=True)
    assert read(sdk.BlockWorkerIPAddressResponse, addresses.worker_answer(blocked)).message == "OK"


def test_what_moderators_are_told_has_every_field_that_the_sdk_knows(sdk: Any) -> None:
    event = review_service_pb2.RecordedEvent(
        id=7,
        reason="model_rejection",
        outcome="rejected",
        text_state="none",
        notes=[review_service_pb2.EventNote(id=1)],
    )
    kept = retention_policy_pb2.GetRetentionPolicyResponse(ceiling_days=365)
    suspicion = review_service_pb2.SuspicionEvent(id=3, suspicion_id=5)
    account = account_details_pb2.PromotionRow(user_id=31)
    account.suspicions.add(id=5, count=5)
    promotions = accounts_service_pb2.ListPromotionsResponse(blocked=[account], suspicion_threshold=5)
    worker = worker_review_pb2.PausedWorker(id="w", type="text")
    worker.suspicions.add(id=5, count=1)
    answers = {
        sdk.PromptModerationEvents: review.events_answer(
            review_service_pb2.ListEventsResponse(events=[event], next_cursor=7, retention=kept)
        ),
        sdk.PromptModerationNote: review.note_answer(review_service_pb2.AddNoteResponse(note=event.notes[0]), 7),
        sdk.WorkerSuspicionEvents: review.history_answer(
            review_service_pb2.ListSuspicionHistoryResponse(events=[suspicion])
        ),
        sdk.ModerationOverview: queues.answer(
            promotions, worker_review_pb2.ListPausedWorkersResponse(workers=[worker], total=1)
        ),
    }
    for model, answer in answers.items():
        every_field_is_there(read(model, answer), orjson.loads(answer.body))


def every_field_is_there(told: Any, sent: Any) -> None:
    """What the SDK read, down to its lists: each field that it has a name for was sent, if only as null."""
    for name, field in type(told).model_fields.items():
        key = field.alias or name
        assert key in sent, (type(told).__name__, key)
        value = getattr(told, name)
        for one, of in zip(value, sent[key], strict=True) if isinstance(value, list) else [(value, sent[key])]:
            if hasattr(one, "model_fields_set"):
                every_field_is_there(one, of)
