"""The message routes: what is asked of dispatch, how its answers are told, and that the SDK's models read them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from horde_sdk.ai_horde_api.apimodels.workers.messages import ResponseModelMessage, ResponseModelMessages

from horde_pb.dispatch.v1 import worker_messages_pb2 as pb
from horde_pb.dispatch.v1 import worker_routes_pb2, workers_pb2

KEY = {"apikey": "a" * 22}
PATH = "/api/v2/workers/messages"


def message(**fields: Any) -> workers_pb2.WorkerMessage:
    """One that holds for eleven and a half hours more."""
    expiry = Timestamp()
    expiry.FromDatetime(datetime.now(UTC) + timedelta(hours=11, minutes=30))
    return workers_pb2.WorkerMessage(id="i", message="m", origin="o#1", expiry=expiry, **fields)


async def test_a_message_is_created_with_defaults_and_told_with_the_hours_left(gateway: Any) -> None:
    made = message(worker_id="w")
    gateway.desk.answers["CreateWorkerMessage"] = pb.CreateWorkerMessageResponse(message=made)
    answer = await gateway.client.post(PATH, json={"worker_id": "w", "message": "m"}, headers=KEY)
    assert answer.status_code == 200
    told = {"id": "i", "worker_id": "w", "message": "m", "origin": "o#1", "expiry": 12}
    assert answer.json() == told
    assert ResponseModelMessage.model_validate(told).expiry == 12
    asked = gateway.desk.last("CreateWorkerMessage")
    assert (asked.worker_id, asked.message, asked.expiry_hours, asked.HasField("origin")) == ("w", "m", 12, False)
    assert asked.caller.api_key == KEY["apikey"]


async def test_wrong_messages_are_refused_before_anybody_is_asked(gateway: Any) -> None:
    for body, path in (
        ({}, "message"),
        ({"message": 1}, "message"),
        ({"message": "m" * 10_241}, "message"),
        ({"message": "m", "expiry": 721}, "expiry"),
        ({"message": "m", "expiry": 0}, "expiry"),
        ({"message": "m", "worker_id": 3}, "worker_id"),
    ):
        refused = await gateway.client.post(PATH, json=body, headers=KEY)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, [path])
    assert (await gateway.client.post(PATH, json={"message": "m"})).json()["errors"].keys() == {"apikey"}
    assert gateway.desk.asked == []


async def test_a_page_is_asked_for_by_author_worker_validity_and_number(gateway: Any) -> None:
    gateway.desk.answers["ListWorkerMessages"] = pb.ListWorkerMessagesResponse(messages=[message()])
    listed = await gateway.client.get(f"{PATH}?user_id=7&worker_id=w&validity=all&page=3", headers=KEY)
    assert [(told["worker_id"], told["expiry"]) for told in listed.json()] == [(None, 12)]
    assert len(ResponseModelMessages.model_validate(listed.json()).root) == 1
    asked = gateway.desk.last("ListWorkerMessages")
    assert (asked.user_id, asked.worker_id, asked.validity, asked.page) == (7, "w", pb.MESSAGE_VALIDITY_ALL, 3)
    await gateway.client.get(PATH, headers=KEY)
    asked = gateway.desk.last("ListWorkerMessages")
    assert (asked.HasField("user_id"), asked.HasField("worker_id"), asked.page) == (False, False, 1)
    assert asked.validity == pb.MESSAGE_VALIDITY_ACTIVE
    for query in ("validity=old", "page=0", "page=x", "user_id=me"):
        assert (await gateway.client.get(f"{PATH}?{query}", headers=KEY)).status_code == 400, query
    assert (await gateway.client.get(f"{PATH}?validity=old", headers=KEY)).json()["rc"] == "BadRequest"
    assert (await gateway.client.get(PATH)).status_code == 400


async def test_one_message_is_read_without_a_key_and_deleted_with_one(gateway: Any) -> None:
    gateway.desk.answers["GetWorkerMessage"] = pb.GetWorkerMessageResponse(message=message())
    gateway.desk.answers["DeleteWorkerMessage"] = pb.DeleteWorkerMessageResponse()
    assert (await gateway.client.get(f"{PATH}/i")).json()["id"] == "i"
    assert gateway.desk.last("GetWorkerMessage").message_id == "i"
    assert (await gateway.client.delete(f"{PATH}/i")).status_code == 400
    assert (await gateway.client.delete(f"{PATH}/i", headers=KEY)).json() == {"message": "OK"}
    assert gateway.desk.last("DeleteWorkerMessage").message_id == "i"


async def test_details_carry_messages_beside_the_owner(gateway: Any) -> None:
    worker = workers_pb2.WorkerDetails(id="id", name="w", owner="a#1", messages=[message()])
    gateway.desk.answers["GetWorker"] = worker_routes_pb2.GetWorkerResponse(worker=worker)
    told = (await gateway.client.get("/api/v2/workers/name/w")).json()
    assert [one["id"] for one in told["messages"]] == ["i"]
