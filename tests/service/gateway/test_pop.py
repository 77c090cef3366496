"""The pop as workers in the field send it, and what they get."""

from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.contract.vocabulary import chat_declaration
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import workers_pb2

KEY = {"apikey": "a" * 22}
PATH = "/api/v2/generate/text/pop"
NO_PAYLOAD = {
    "max_context_length": 2048,
    "max_length": 80,
    "min_p": 0.0,
    "smoothing_factor": 0.0,
    "dynatemp_range": 0.0,
    "dynatemp_exponent": 1.0,
}

KOBOLDCPP = {
    "name": "my worker",
    "models": ["koboldcpp/Some-Model-8B"],
    "max_length": 256,
    "max_context_length": 4096,
    "priority_usernames": [],
    "softprompts": [],
    "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
}


async def test_koboldcpps_body_gets_a_well_formed_empty_pop(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = dispatch.ClaimJobsResponse(skipped={"untrusted": 2})
    headers = {**KEY, "User-Agent": "KoboldCppEmbeddedWorkerV2", "Client-Agent": "KoboldCppEmbedWorker:2"}
    answer = await gateway.client.post(PATH, json=KOBOLDCPP, headers=headers)
    assert answer.status_code == 200
    assert answer.json() == {
        "payload": NO_PAYLOAD,
        "id": None,
        "ids": [],
        "messages": [],
        "ttl": None,
        "extra_source_images": None,
        "skipped": {"untrusted": 2},
        "softprompt": None,
        "model": None,
    }
    asked = gateway.desk.last("ClaimJobs")
    assert (asked.name, list(asked.models), asked.threads, asked.amount) == ("my worker", KOBOLDCPP["models"], 1, 1)
    assert (asked.max_length, asked.max_context_length, asked.nsfw) == (256, 4096, True)
    assert asked.caller.client_agent == "KoboldCppEmbedWorker:2"
    assert not asked.HasField("chat")


async def test_a_job_is_handed_out_with_its_payload_untouched(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = dispatch.ClaimJobsResponse(
        generation_ids=["one", "two"],
        model="m",
        ttl_seconds=150,
        payload=b'{"prompt":"hi","n":1,"max_length":80}',
        messages=[workers_pb2.WorkerMessage(id="1", message="hello", origin="us", expiry=Timestamp(seconds=0))],
    )
    job = (await gateway.client.post(PATH, json=KOBOLDCPP, headers=KEY)).json()
    assert (job["id"], job["ids"], job["model"], job["ttl"]) == ("one", ["one", "two"], "m", 150)
    assert job["payload"] == {"prompt": "hi", "n": 1, "max_length": 80}
    assert job["messages"][0]["expiry"] == "Thu, 01 Jan 1970 00:00:00 -0000"
    assert "chat" not in job


async def test_the_sdks_declaration_arrives_whole(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = dispatch.ClaimJobsResponse(
        generation_ids=["one"], model="m", ttl_seconds=150, payload=b'{"messages":[]}', chat=True
    )
    declared = {
        "chat_jobs": True,
        "prompt_jobs": False,
        "model_id": "model",
        "chat_features": ["seed", "a feature of tomorrow"],
        "chat_limits": {"max_context_length": 8192, "max_length": 1024, "tools_max_temperature": 0},
        "image_transports": ["url"],
    }
    body = {"name": "w", "models": ["model"], "threads": 4, "amount": 2, "max_content_length": 5, **declared}
    job = (await gateway.client.post(PATH, json=body, headers=KEY)).json()
    assert job["chat"] is True
    chat = gateway.desk.last("ClaimJobs").chat
    assert (chat.chat_jobs, chat.prompt_jobs, chat.model_id) == (True, False, "model")
    assert list(chat.chat_features) == declared["chat_features"]
    assert (chat.chat_limits.max_context_length, chat.chat_limits.max_length) == (8192, 1024)
    assert chat.chat_limits.HasField("tools_max_temperature")
    assert list(chat.image_transports) == ["url"]
    assert gateway.desk.last("ClaimJobs").max_context_length == 2048
    assert "url" in {transport.value for transport in chat_declaration.ChatImageTransport}


async def test_a_declaration_without_prompt_jobs_leaves_it_open(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = dispatch.ClaimJobsResponse()
    await gateway.client.post(PATH, json={**KOBOLDCPP, "chat_jobs": True}, headers=KEY)
    chat = gateway.desk.last("ClaimJobs").chat
    assert chat.chat_jobs
    assert not chat.HasField("prompt_jobs")
    assert not chat.HasField("chat_limits")
    assert not chat.HasField("model_id")


async def test_refusals_of_a_pop_reach_the_worker(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = Refusal(reasons.WORKER_MAINTENANCE, "In maintenance.")
    answer = await gateway.client.post(PATH, json=KOBOLDCPP, headers=KEY)
    assert (answer.status_code, answer.json()) == (403, {"message": "In maintenance.", "rc": "WorkerMaintenance"})


async def test_all_mistakes_of_a_body_are_reported_together(gateway: Any) -> None:
    body = {"models": ["m"], "threads": 51, "amount": 0, "nsfw": "yes", "chat_limits": {"max_length": True}}
    answer = await gateway.client.post(PATH, json=body, headers=KEY)
    assert set(answer.json()["errors"]) == {
        "name",
        "models.0",
        "threads",
        "amount",
        "nsfw",
        "chat_limits.max_length",
        "chat_limits.max_context_length",
    }


async def test_the_lengths_of_a_pop_have_no_range(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = dispatch.ClaimJobsResponse()
    for sent, asked in ((2**31, 2**31 - 1), (2**62, 2**31 - 1), (-(2**40), -(2**31 - 1)), (0, 0)):
        body = {**KOBOLDCPP, "max_length": sent, "max_context_length": sent}
        assert (await gateway.client.post(PATH, json=body, headers=KEY)).status_code == 200
        told = gateway.desk.last("ClaimJobs")
        assert (told.max_length, told.max_context_length) == (asked, asked)


async def test_a_nul_in_a_stored_name_is_refused(gateway: Any) -> None:
    for key, value in (("name", "a\0"), ("models", ["mod\0el"]), ("bridge_agent", "\0")):
        answer = await gateway.client.post(PATH, json={**KOBOLDCPP, key: value}, headers=KEY)
        assert (answer.status_code, answer.json()["rc"]) == (400, "NulByteInPayload")
