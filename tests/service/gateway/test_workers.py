"""The worker routes: what is asked of dispatch, and how its answers are told."""

from typing import Any

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1 import worker_routes_pb2, workers_pb2
from tests.fakes.gateway_services import Desk
from tests.fakes.running_gateway import running

KEY = {"apikey": "a" * 22}
PATH = "/api/v2/workers"
PLAIN = workers_pb2.WorkerDetails(id="id", name="w", threads=2, kudos_hundredths=1250, prompt_jobs=True, models=["m"])
FULL = workers_pb2.WorkerDetails(
    id="id",
    name="w",
    speed=12.34,
    info="hi",
    owner="a#1",
    chat=workers_pb2.ChatDeclaration(
        model_id="m",
        chat_features=["seed"],
        chat_limits=workers_pb2.ChatLimits(max_context_length=8192, max_length=512, tools_max_temperature=0),
        image_transports=["url"],
    ),
    file=workers_pb2.WorkerFile(paused=True, suspicions=3, address="203.0.113.7"),
)


async def test_public_details_leave_out_what_is_absent(gateway: Any) -> None:
    gateway.desk.answers["ListWorkers"] = worker_routes_pb2.ListWorkersResponse(workers=[PLAIN])
    listed = (await gateway.client.get(f"{PATH}?type=text")).json()
    assert listed == [
        {
            "name": "w",
            "id": "id",
            "type": "text",
            "online": False,
            "requests_fulfilled": 0,
            "kudos_rewards": 12.5,
            "kudos_details": {"generated": 0, "uptime": 0},
            "performance": "No requests fulfilled yet",
            "threads": 2,
            "uptime": 0,
            "maintenance_mode": False,
            "nsfw": False,
            "trusted": False,
            "flagged": False,
            "uncompleted_jobs": 0,
            "nonconformant_replies": 0,
            "models": ["m"],
            "bridge_agent": "",
            "max_length": 0,
            "max_context_length": 0,
            "accepts_chat_jobs": False,
            "accepts_prompt_jobs": True,
        }
    ]


async def test_privileged_details_and_the_chat_object(gateway: Any) -> None:
    gateway.desk.answers["GetWorker"] = worker_routes_pb2.GetWorkerResponse(worker=FULL)
    told = (await gateway.client.get(f"{PATH}/id", headers=KEY)).json()
    assert told["chat"] == {
        "model_id": "m",
        "features": ["seed"],
        "limits": {"max_context_length": 8192, "max_length": 512, "tools_max_temperature": 0},
        "image_transports": ["url"],
    }
    assert (told["performance"], told["owner"], told["info"]) == ("12.3 tokens per second", "a#1", "hi")
    assert (told["paused"], told["suspicious"], told["ipaddr"]) == (True, 3, "203.0.113.7")
    assert "contact" not in told
    assert gateway.desk.last("GetWorker").caller.api_key == KEY["apikey"]


async def test_the_list_is_filtered_by_type_and_name_and_the_name_wins(gateway: Any) -> None:
    gateway.desk.answers["ListWorkers"] = worker_routes_pb2.ListWorkersResponse()
    assert (await gateway.client.get(f"{PATH}?type=image")).json() == []
    assert gateway.desk.asked == []
    assert (await gateway.client.get(f"{PATH}?type=other")).json()["errors"].keys() == {"type"}
    await gateway.client.get(f"{PATH}?type=image&name=A%20b")
    assert gateway.desk.last("ListWorkers").name == "A b"
    await gateway.client.get(PATH)
    assert not gateway.desk.last("ListWorkers").HasField("name")


async def test_a_name_may_hold_a_slash(gateway: Any) -> None:
    gateway.desk.answers["GetWorker"] = worker_routes_pb2.GetWorkerResponse(worker=PLAIN)
    assert (await gateway.client.get(f"{PATH}/name/a/b")).json()["id"] == "id"
    assert gateway.desk.last("GetWorker").name == "a/b"


async def test_a_change_answers_what_was_changed(gateway: Any) -> None:
    gateway.desk.answers["UpdateWorker"] = worker_routes_pb2.UpdateWorkerResponse(maintenance=False, info="")
    answer = await gateway.client.put(f"{PATH}/id", json={"maintenance": False, "info": "", "team": ""}, headers=KEY)
    assert (answer.status_code, answer.json()) == (200, {"maintenance": False, "info": ""})
    asked = gateway.desk.last("UpdateWorker")
    assert asked.HasField("maintenance")
    assert not asked.HasField("paused")
    wrong = await gateway.client.put(f"{PATH}/id", json={"maintenance": "yes", "name": 5}, headers=KEY)
    assert (wrong.status_code, wrong.json()["errors"].keys()) == (400, {"maintenance", "name"})
    assert (await gateway.client.put(f"{PATH}/id", json={"maintenance": True})).json()["errors"].keys() == {"apikey"}


async def test_a_delete_and_its_refusals(gateway: Any) -> None:
    gateway.desk.answers["DeleteWorker"] = worker_routes_pb2.DeleteWorkerResponse(deleted_id="id", deleted_name="w")
    gone = await gateway.client.delete(f"{PATH}/id", headers=KEY)
    assert gone.json() == {"deleted_id": "id", "deleted_name": "w"}
    for reason, status in ((reasons.LOCKED, 423), (reasons.NOT_OWNER, 403), (reasons.WORKER_NOT_FOUND, 404)):
        gateway.desk.answers["DeleteWorker"] = Refusal(reason, "No.")
        answer = await gateway.client.delete(f"{PATH}/id", headers=KEY)
        assert (answer.status_code, answer.json()) == (status, {"message": "No.", "rc": reason.word})


async def test_one_worker_may_be_asked_for_thirty_times_a_minute_and_others_beside_it(redis_url: str) -> None:
    desk = Desk(answers={"GetWorker": worker_routes_pb2.GetWorkerResponse(worker=PLAIN)})
    async with running(desk, redis_url=redis_url, rate_limits_enabled=True) as gateway:
        statuses = [(await gateway.client.get(f"{PATH}/one")).status_code for _ in range(31)]
        assert statuses == [200] * 30 + [429]
        refused = await gateway.client.get(f"{PATH}/one")
        assert refused.json() == {"message": "30 per 1 minute"}
        assert (await gateway.client.get(f"{PATH}/two")).status_code == 200
        assert (await gateway.client.get(f"{PATH}/name/one")).status_code == 200
