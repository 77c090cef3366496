"""The text routes: what reaches the services, and what comes back."""

from typing import Any

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import admission_service_pb2 as admission
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import status_pb2
from tests.fakes.running_gateway import running

KEY = {"apikey": "a" * 22}
REQUEST_ID = "4f7d1c3e-6a55-4a0e-9d5c-3a6f1d2b7c90"
BODY = b'{"prompt":"Once","params":{"max_length":80}}'
QUEUED = admission.AdmitTextResponse(outcome=admission.ADMIT_OUTCOME_QUEUED, request_id=REQUEST_ID, kudos=12)


async def test_a_submit_reaches_admission_as_it_came_and_answers_202(gateway: Any) -> None:
    gateway.desk.answers["AdmitText"] = QUEUED
    answer = await gateway.client.post("/api/v2/generate/text/async", content=BODY, headers=KEY)
    assert (answer.status_code, answer.json()) == (202, {"id": REQUEST_ID, "kudos": 12})
    asked = gateway.desk.last("AdmitText")
    assert (asked.body, asked.caller.api_key) == (BODY, "a" * 22)


async def test_a_submit_that_nobody_can_serve_says_so_and_a_dry_run_answers_200(gateway: Any) -> None:
    gateway.desk.answers["AdmitText"] = admission.AdmitTextResponse(
        outcome=admission.ADMIT_OUTCOME_QUEUED, request_id=REQUEST_ID, kudos=12, message="No worker."
    )
    answer = await gateway.client.post("/v2/generate/text/async", content=BODY, headers=KEY)
    assert answer.json()["message"] == "No worker."
    gateway.desk.answers["AdmitText"] = admission.AdmitTextResponse(
        outcome=admission.ADMIT_OUTCOME_QUOTED, kudos=3, resolved=b'{"style":null}'
    )
    answer = await gateway.client.post("/v2/generate/text/async", content=BODY, headers=KEY)
    assert (answer.status_code, answer.json()) == (200, {"kudos": 3, "resolved": {"style": None}})


async def test_a_missing_key_is_a_validation_error_after_the_body_is_checked(gateway: Any) -> None:
    answer = await gateway.client.post("/v2/generate/text/async", content=BODY)
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"apikey"})
    wrong = await gateway.client.post("/v2/generate/text/async", json={"prompt": "a", "params": {"n": 0}})
    assert (wrong.status_code, set(wrong.json()["errors"])) == (400, {"params.n"})
    assert wrong.json()["rc"] == "BadRequest"
    assert (await gateway.client.post("/v2/generate/text/async", content=b'{"prompt":')).status_code == 400
    assert (await gateway.client.get(f"/v2/generate/text/request/{REQUEST_ID}")).status_code == 400
    assert gateway.desk.asked == []


async def test_a_body_over_the_limit_is_refused_before_it_is_read(gateway: Any) -> None:
    headers = {**KEY, "content-type": "application/json"}
    answer = await gateway.client.post(
        "/v2/generate/text/async", content=b" " * (16 * 1024 * 1024 + 1), headers=headers
    )
    assert (answer.status_code, answer.json()["rc"]) == (413, "RequestTooLarge")


TEXT_STATUS: dict[str, Any] = {
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
    "generations": [
        {
            "worker_id": "w",
            "worker_name": "worker",
            "model": "m",
            "state": "ok",
            "text": "hi",
            "seed": 7,
            "gen_metadata": [],
        }
    ],
}


async def test_status_and_cancel_answer_the_text_shape_without_a_key(gateway: Any) -> None:
    generation = status_pb2.GenerationStatus(
        id="g", worker_id="w", worker_name="worker", model="m", state="ok", text="hi", seed=7
    )
    status = status_pb2.RequestStatus(
        finished=1, done=True, kudos_hundredths=1250, is_possible=True, eligible_workers=2, generations=[generation]
    )
    gateway.desk.answers["GetStatus"] = dispatch.GetStatusResponse(status=status)
    gateway.desk.answers["CancelRequest"] = dispatch.CancelRequestResponse(status=status)
    path = f"/v2/generate/text/status/{REQUEST_ID}"
    assert (await gateway.client.get(path)).json() == TEXT_STATUS
    assert (await gateway.client.delete(path)).json() == TEXT_STATUS
    for name in ("GetStatus", "CancelRequest"):
        asked = gateway.desk.last(name)
        assert (asked.request_id, asked.family) == (REQUEST_ID, dispatch.REQUEST_FAMILY_TEXT)


async def test_a_submission_is_read_back_and_never_kept_on_the_way(gateway: Any) -> None:
    gateway.desk.answers["GetTextSubmission"] = admission.GetTextSubmissionResponse(submission=b'{"prompt":"Once"}')
    path = f"/v2/generate/text/request/{REQUEST_ID}"
    answer = await gateway.client.get(path, headers=KEY)
    assert (answer.status_code, answer.json()) == (200, {"prompt": "Once"})
    assert answer.headers["cache-control"] == "private, no-store"
    asked = gateway.desk.last("GetTextSubmission")
    assert (asked.request_id, asked.api_key) == (REQUEST_ID, "a" * 22)
    gateway.desk.answers["GetTextSubmission"] = Refusal(reasons.NOT_REQUEST_OWNER, "Another account's.")
    refused = await gateway.client.get(path, headers=KEY)
    assert (refused.status_code, refused.json()["rc"]) == (403, "NotRequestOwner")
    assert refused.headers["cache-control"] == "private, no-store"


async def test_text_and_chat_submits_have_budgets_of_their_own(redis_url: str) -> None:
    async with running(redis_url=redis_url, rate_limits_enabled=True) as gateway:
        gateway.desk.answers["AdmitText"] = QUEUED
        gateway.desk.answers["AdmitChat"] = admission.AdmitChatResponse(
            outcome=admission.ADMIT_OUTCOME_QUEUED, request_id=REQUEST_ID
        )
        chat = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'

        async def last_of(path: str, body: bytes, calls: int) -> int:
            for _ in range(calls - 1):
                await gateway.client.post(path, content=body, headers=KEY)
            return (await gateway.client.post(path, content=body, headers=KEY)).status_code

        # twice more than two seconds allow, wherever the window began
        assert await last_of("/v2/generate/text/async", BODY, 5) == 429
        assert await last_of("/v2/generate/chat/async", chat, 1) == 202


async def test_a_trusted_submitters_address_gets_the_higher_limits(redis_url: str) -> None:
    async with running(redis_url=redis_url, rate_limits_enabled=True) as gateway:
        gateway.desk.answers["AdmitText"] = admission.AdmitTextResponse(
            outcome=admission.ADMIT_OUTCOME_QUEUED, request_id=REQUEST_ID, favours_address=True
        )
        statuses = [
            (await gateway.client.post("/v2/generate/text/async", content=BODY, headers=KEY)).status_code
            for _ in range(6)
        ]
        assert statuses == [202] * 6
