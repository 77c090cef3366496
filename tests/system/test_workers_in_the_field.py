"""Workers as they are today: they keep working, and get no chat job."""

import httpx

from tests.system.services import Services

KOBOLDCPP_POP = {
    "name": "field worker",
    "models": ["koboldcpp/Field-7B"],
    "max_length": 512,
    "max_context_length": 4096,
    "priority_usernames": [],
    "softprompts": [],
    "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
}


def test_koboldcpps_exact_pop_gets_a_well_formed_empty_answer_while_a_chat_request_for_its_model_waits(
    services: Services,
) -> None:
    owner, client = services.account("field_owner"), services.account("field_client")
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30) as http:
        chat_worker = {
            **KOBOLDCPP_POP,
            "name": "field chat worker",
            "chat_jobs": True,
            "model_id": "koboldcpp/Field-7B",
            "chat_limits": {"max_context_length": 4096, "max_length": 512},
            "chat_features": ["prompt_overflow_refused"],
        }
        assert http.post("/generate/text/pop", json=chat_worker, headers={"apikey": owner.api_key}).status_code == 200
        body = {"model": "koboldcpp/Field-7B", "messages": [{"role": "user", "content": "Hello"}]}
        accepted = http.post("/generate/chat/async", json=body, headers={"apikey": client.api_key})
        assert accepted.status_code == 202

        agents = {"User-Agent": "KoboldCppEmbeddedWorkerV2", "Client-Agent": "KoboldCppEmbedWorker:2"}
        popped = http.post("/generate/text/pop", json=KOBOLDCPP_POP, headers={"apikey": owner.api_key, **agents})
        assert popped.status_code == 200
        empty = popped.json()
        assert empty["id"] is None
        assert empty["ids"] == []
        assert empty["payload"] == {
            "min_p": 0.0,
            "smoothing_factor": 0.0,
            "dynatemp_range": 0.0,
            "dynatemp_exponent": 1.0,
            "max_length": 80,
            "max_context_length": 2048,
        }
        assert set(empty) >= {"id", "ids", "model", "payload", "skipped", "messages", "ttl", "softprompt"}
        assert "chat" not in empty

        job = http.post("/generate/text/pop", json=chat_worker, headers={"apikey": owner.api_key}).json()
        assert job["chat"] is True
        assert job["model"] == "koboldcpp/Field-7B"
