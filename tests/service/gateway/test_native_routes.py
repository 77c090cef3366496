"""The native routes: what reaches the services, and what comes back."""

from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as admission
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import statistics_pb2, status_pb2
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation
from horde_pb.progress.v1 import progress_service_pb2 as progress
from services.dispatch.rules.reply import fault_label

KEY = {"apikey": "a" * 22}
REQUEST_ID = "4f7d1c3e-6a55-4a0e-9d5c-3a6f1d2b7c90"
BODY = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


async def test_a_submit_reaches_admission_as_it_came_and_answers_202(gateway: Any) -> None:
    gateway.desk.answers["AdmitChat"] = admission.AdmitChatResponse(
        outcome=admission.ADMIT_OUTCOME_QUEUED, request_id=REQUEST_ID, kudos=12
    )
    headers = {**KEY, "client_agent": "sdk:1:me", "Proxied-For": "9.9.9.9", "Content-Type": "application/json"}
    answer = await gateway.client.post("/api/v2/generate/chat/async", content=BODY, headers=headers)
    assert (answer.status_code, answer.json()) == (202, {"id": REQUEST_ID, "kudos": 12})
    asked = gateway.desk.last("AdmitChat")
    assert asked.body == BODY
    assert asked.caller.api_key == "a" * 22
    assert asked.caller.client_agent == "sdk:1:me"
    assert asked.caller.remote_address == "127.0.0.1"
    assert asked.caller.proxied_for == "9.9.9.9"


async def test_a_submit_that_nobody_can_serve_says_so(gateway: Any) -> None:
    gateway.desk.answers["AdmitChat"] = admission.AdmitChatResponse(
        outcome=admission.ADMIT_OUTCOME_QUEUED,
        request_id=REQUEST_ID,
        kudos=12,
        message="No worker.",
        warnings=[admission.Warning(code="NoAvailableWorker", message="none")],
    )
    answer = await gateway.client.post("/v2/generate/chat/async", content=BODY, headers=KEY)
    assert answer.json()["message"] == "No worker."
    assert answer.json()["warnings"] == [{"code": "NoAvailableWorker", "message": "none"}]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (admission.ADMIT_OUTCOME_REPEATED, {"id": REQUEST_ID, "kudos": 3}),
        (admission.ADMIT_OUTCOME_QUOTED, {"kudos": 3, "resolved": {"model": "m", "style": None}}),
    ],
)
async def test_a_repeat_and_a_quote_answer_200(gateway: Any, outcome: Any, expected: Any) -> None:
    gateway.desk.answers["AdmitChat"] = admission.AdmitChatResponse(
        outcome=outcome, request_id=REQUEST_ID, kudos=3, resolved=b'{"model":"m","style":null}', message="unused"
    )
    answer = await gateway.client.post("/v2/generate/chat/async", content=BODY, headers=KEY)
    assert (answer.status_code, answer.json()) == (200, expected)


async def test_a_missing_key_is_a_validation_error_after_the_body_is_checked(gateway: Any) -> None:
    for path, body in (
        ("/v2/generate/chat/async", BODY),
        ("/v2/generate/text/pop", b'{"name":"w"}'),
        ("/v2/generate/text/progress", b'{"id":"x","seq":1,"delta":{"content":"a"}}'),
        ("/v2/generate/text/submit", b'{"id":"x","generation":"a"}'),
    ):
        answer = await gateway.client.post(path, content=body)
        assert answer.status_code == 400
        assert answer.json()["message"] == "Input payload validation failed"
        assert set(answer.json()["errors"]) == {"apikey"}
        assert answer.json()["rc"] == "BadRequest"
        malformed = await gateway.client.post(path, content=b'{"a":')
        assert "not valid JSON" in malformed.json()["message"]
    assert gateway.desk.asked == []


async def test_a_refusal_becomes_its_status_with_facts_beside_message_and_rc(gateway: Any) -> None:
    gap = {"kind": "declaration_gap", "missing_declarations": ["vision"], "exceeded_limits": []}
    gateway.desk.answers["AdmitChat"] = Refusal(reasons.NO_ELIGIBLE_WORKER, "No.", {"impossible_reason": gap})
    answer = await gateway.client.post("/v2/generate/chat/async", content=BODY, headers=KEY)
    assert answer.status_code == 403
    assert answer.json() == {"message": "No.", "rc": "NoEligibleWorker", "impossible_reason": gap}


async def test_a_retry_hint_of_a_refusal_becomes_a_header(gateway: Any) -> None:
    gateway.desk.answers["AdmitChat"] = Refusal(reasons.TOO_MANY_PROMPTS, "Too many.", retry_after=30)
    answer = await gateway.client.post("/v2/generate/chat/async", content=BODY, headers=KEY)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "30")


def _status() -> status_pb2.RequestStatus:
    generation = status_pb2.GenerationStatus(
        id="g", worker_id="w", worker_name="worker", model="m", state="ok", text="hi", seed=7
    )
    generation.message = b'{"role":"assistant","content":"hi"}'
    generation.finish_reason = "stop"
    generation.prompt_tokens = 0
    generation.charge_basis = "output_estimate"
    generation.queue_wait_seconds = 1.5
    return status_pb2.RequestStatus(
        finished=1, done=True, kudos_hundredths=1250, is_possible=True, eligible_workers=2, generations=[generation]
    )


EXPECTED_STATUS: dict[str, Any] = {
    "finished": 1,
    "processing": 0,
    "restarted": 0,
    "waiting": 0,
    "done": True,
    "faulted": False,
    "wait_time": 0,
    "queue_position": 0,
    "kudos": 13,
    "is_possible": True,
    "eligible_workers": 2,
    "eligible_worker_threads": 0,
    "might_stall": False,
    "impossible_reason": None,
    "context_adjustments": None,
    "fault_reason": None,
    "fault_rc": None,
    "generations": [
        {
            "worker_id": "w",
            "worker_name": "worker",
            "model": "m",
            "state": "ok",
            "text": "hi",
            "seed": 7,
            "gen_metadata": [],
            "message": {"role": "assistant", "content": "hi"},
            "finish_reason": "stop",
            "native_finish_reason": None,
            "prompt_tokens": 0,
            "completion_tokens": None,
            "reasoning_tokens": None,
            "charge_basis": "output_estimate",
            "queue_wait_seconds": 1.5,
        }
    ],
}


async def test_status_and_cancel_answer_the_whole_status_without_a_key(gateway: Any) -> None:
    gateway.desk.answers["GetStatus"] = dispatch.GetStatusResponse(status=_status())
    gateway.desk.answers["CancelRequest"] = dispatch.CancelRequestResponse(status=_status())
    path = f"/v2/generate/chat/status/{REQUEST_ID}"
    assert (await gateway.client.get(path)).json() == EXPECTED_STATUS
    assert (await gateway.client.delete(path)).json() == EXPECTED_STATUS
    for name in ("GetStatus", "CancelRequest"):
        asked = gateway.desk.last(name)
        assert (asked.request_id, asked.family) == (REQUEST_ID, dispatch.REQUEST_FAMILY_CHAT)


async def test_a_text_reply_is_passed_on_and_earns_a_number(gateway: Any) -> None:
    gateway.desk.answers["SubmitResult"] = dispatch.SubmitResultResponse(reward_hundredths=1234)
    body = {"id": "g", "generation": "text\0", "state": "ok"}
    answer = await gateway.client.post("/v2/generate/text/submit", json=body, headers=KEY)
    assert (answer.status_code, answer.json()) == (200, {"reward": 12.34})
    asked = gateway.desk.last("SubmitResult")
    assert (asked.generation_id, asked.generation, asked.state, asked.chat) == ("g", "text\0", "ok", False)
    assert not asked.HasField("model_id")


async def test_a_chat_reply_is_passed_on_as_sent(gateway: Any) -> None:
    gateway.desk.answers["SubmitResult"] = dispatch.SubmitResultResponse()
    body = {
        "id": "g",
        "model_id": 5,
        "message": {"role": "assistant", "content": None},
        "finish_reason": "stop",
        "prompt_tokens": "three",
        "completion_tokens": None,
    }
    assert (await gateway.client.post("/v2/generate/text/submit", json=body, headers=KEY)).status_code == 200
    asked = gateway.desk.last("SubmitResult")
    assert asked.chat
    assert asked.state == "ok"
    assert asked.message == b'{"role":"assistant","content":null}'
    assert asked.counts == b'{"prompt_tokens":"three"}'
    assert asked.model_id == "5"
    assert not asked.HasField("generation")
    # what must not stand beside a message is refused by the service, which remembers it, whatever it is
    await gateway.client.post("/v2/generate/text/submit", json={**body, "generation": 5}, headers=KEY)
    assert gateway.desk.last("SubmitResult").generation == "5"


async def test_a_fault_is_told_apart_and_earns_nothing(gateway: Any) -> None:
    gateway.desk.answers["SubmitFault"] = dispatch.SubmitFaultResponse()
    chat = {"id": "g", "state": "faulted", "model_id": "m", "fault_reason": "generation_error"}
    answer = await gateway.client.post("/v2/generate/text/submit", json=chat, headers=KEY)
    assert (answer.status_code, answer.json()) == (200, {"reward": 0})
    asked = gateway.desk.last("SubmitFault")
    assert (asked.chat, asked.fault_reason) == (True, "generation_error")
    text = {"id": "g", "generation": "", "state": "faulted", "seed": -1}
    assert (await gateway.client.post("/v2/generate/text/submit", json=text, headers=KEY)).status_code == 200
    assert not gateway.desk.last("SubmitFault").chat
    await gateway.client.post("/v2/generate/text/submit", json={**chat, "fault_reason": ""}, headers=KEY)
    assert fault_label(gateway.desk.last("SubmitFault").fault_reason) == "unknown"


async def test_a_progress_post_answers_what_was_accepted(gateway: Any) -> None:
    gateway.desk.answers["AppendProgress"] = progress.AppendProgressResponse(accepted_seq=2, cancelled=True)
    body = {"id": "g", "seq": 2, "delta": {"content": "a", "reasoning_content": "b"}}
    answer = await gateway.client.post("/v2/generate/text/progress", json=body, headers=KEY)
    assert answer.json() == {"accepted_seq": 2, "cancelled": True}
    asked = gateway.desk.last("AppendProgress")
    assert (asked.generation_id, asked.seq, asked.content, asked.reasoning_content) == ("g", 2, "a", "b")


async def test_a_post_out_of_sequence_is_told_the_expected_number(gateway: Any) -> None:
    gateway.desk.answers["AppendProgress"] = Refusal(
        reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE, "Out of sequence.", {"expected_seq": 4}
    )
    body = {"id": "g", "seq": 9, "delta": {"content": "a"}}
    answer = await gateway.client.post("/v2/generate/text/progress", json=body, headers=KEY)
    assert answer.status_code == 409
    assert answer.json()["expected_seq"] == 4


async def test_modes_show_the_raid_mode_to_moderators_only(gateway: Any) -> None:
    gateway.desk.answers["GetModes"] = moderation.GetModesResponse(maintenance=True, raid=True)
    gateway.desk.answers["FindAccount"] = admission.FindAccountResponse(moderator=True)
    path = "/v2/status/modes"
    with_key = await gateway.client.get(path, headers=KEY)
    assert with_key.json() == {"maintenance_mode": True, "invite_only_mode": False, "raid_mode": True}
    assert with_key.headers["cache-control"] == "private, no-store"
    assert "raid_mode" not in (await gateway.client.get(path)).json()
    for deleted in (False, True):
        gateway.desk.answers["FindAccount"] = admission.FindAccountResponse(moderator=deleted, deleted=deleted)
        refused = await gateway.client.get(path, headers=KEY)
        assert (refused.status_code, refused.json()["rc"]) == (403, "NotModerator")


async def test_find_user_refuses_an_unknown_key(gateway: Any) -> None:
    gateway.desk.answers["GetAccount"] = Refusal(reasons.INVALID_API_KEY, "Unknown key.")
    assert (await gateway.client.get("/v2/find_user", headers=KEY)).status_code == 401


async def test_performance_has_every_key_that_clients_read(gateway: Any) -> None:
    gateway.desk.answers["GetPerformance"] = dispatch.GetPerformanceResponse(queued_tokens=5, text_worker_count=2)
    measured = (await gateway.client.get("/v2/status/performance")).json()
    assert measured["queued_tokens"] == 5
    assert measured["text_worker_count"] == 2
    assert measured["queued_megapixelsteps"] == 0


async def test_text_statistics_are_told_by_period_and_by_model(gateway: Any) -> None:
    gateway.desk.answers["GetTextStatistics"] = statistics_pb2.GetTextStatisticsResponse(
        minute=statistics_pb2.Made(requests=1, tokens=80),
        total=statistics_pb2.Made(requests=9, tokens=800),
        models=[
            statistics_pb2.ModelMade(model="a", day=1, month=2, total=8),
            statistics_pb2.ModelMade(model="b", total=1),
        ],
    )
    nothing = {"requests": 0, "tokens": 0}
    assert (await gateway.client.get("/api/v2/stats/text/totals")).json() == {
        "minute": {"requests": 1, "tokens": 80},
        "hour": nothing,
        "day": nothing,
        "month": nothing,
        "total": {"requests": 9, "tokens": 800},
    }
    models = (await gateway.client.get("/v2/stats/text/models")).json()
    assert models == {"day": {"a": 1}, "month": {"a": 2}, "total": {"a": 8, "b": 1}}


async def test_there_are_no_news(gateway: Any) -> None:
    assert (await gateway.client.get("/v2/status/news")).json() == []


async def test_the_openapi_document_is_where_clients_look_for_it(gateway: Any) -> None:
    document = (await gateway.client.get("/api/openapi.json")).json()
    assert (await gateway.client.get("/api/swagger.json")).json() == document


async def test_the_heartbeat_answers_200_and_asks_nobody(gateway: Any) -> None:
    answer = await gateway.client.get("/api/v2/status/heartbeat")
    assert answer.status_code == 200
    assert set(answer.json()) == {"message", "version", "queue", "threads", "active_count", "db_connection"}
    assert answer.json()["message"] == "OK"
    assert answer.json()["active_count"] == 1
    assert gateway.desk.asked == []
