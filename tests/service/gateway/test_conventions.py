"""What every answer has in common, and what becomes of everything that goes wrong."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from horde.rpc.probes import bind
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import workers_pb2
from tests.fakes.gateway_services import Desk
from tests.fakes.running_gateway import running

KEY = {"apikey": "a" * 22}
# Admission reads the body of a chat submit.
READ_HERE = ("/v2/generate/text/pop", "/v2/generate/text/progress", "/v2/generate/text/submit")


def assert_is_ours(answer: httpx.Response) -> Any:
    """Every answer is JSON with a message, and has the headers of base-domain 1.3."""
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "X-RateLimit-Reset" in answer.headers["access-control-expose-headers"]
    assert answer.headers["horde-node"]
    assert answer.headers["x-request-id"]
    assert "content-encoding" not in answer.headers
    body = answer.json()
    assert isinstance(body["message"], str)
    assert body["message"]
    return body


async def test_an_unknown_address_and_a_wrong_method_answer_json(gateway: Any) -> None:
    for path in ("/nowhere", "/api/v2/nowhere", "/v2/generate/text/pop/", "/%ff%00/x"):
        answer = await gateway.client.get(path)
        assert answer.status_code == 404
        assert_is_ours(answer)
    answer = await gateway.client.put("/v2/generate/chat/status/x")
    assert answer.status_code == 405
    assert {"GET", "DELETE"} <= set(answer.headers["allow"].split(", "))
    assert_is_ours(answer)


async def test_options_is_answered_for_any_page_and_head_without_a_body(gateway: Any) -> None:
    wanted = {"Access-Control-Request-Headers": "apikey,x-stainless-os", "Access-Control-Request-Method": "POST"}
    answer = await gateway.client.options("/v1/anything", headers=wanted)
    assert answer.status_code == 204
    assert "x-stainless-os" in answer.headers["access-control-allow-headers"]
    assert "apikey" in answer.headers["access-control-allow-headers"]
    head = await gateway.client.head("/v2/status/heartbeat")
    assert (head.status_code, head.content) == (200, b"")


async def test_a_request_id_of_the_caller_is_kept(gateway: Any) -> None:
    answer = await gateway.client.get("/v2/status/heartbeat", headers={"X-Request-ID": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"


async def test_x_fields_asks_for_a_part_of_an_answer_and_never_of_an_error(gateway: Any) -> None:
    answer = await gateway.client.get("/v2/status/heartbeat", headers={"X-Fields": "version,message"})
    assert set(answer.json()) == {"version", "message"}
    assert int(answer.headers["content-length"]) == len(answer.content)
    whole = await gateway.client.get("/v2/status/heartbeat", headers={"X-Fields": "{version"})
    assert "db_connection" in whole.json()
    refused = await gateway.client.get("/v2/users/x", headers={"X-Fields": "version"})
    assert refused.json()["message"]


HOSTILE = (
    b"",
    b"{",
    b"nonsense",
    b"\xff\xfe{}",
    b'{"a": NaN}',
    b'{"a": 1e999}',
    b'{"a": 1, "a": 2}',
    b'{"a": "\\ud800"}',
    b"[" * 100_000,
    b'{"a":' * 5000 + b"1" + b"}" * 5000,
    b'{"a": ' + b"9" * 5000 + b"}",
    b"[]",
    b"null",
    b'"text"',
    b"\x00\x01\x02",
)


@pytest.mark.parametrize("path", READ_HERE)
async def test_hostile_bodies_get_a_json_400(gateway: Any, path: str) -> None:
    for body in HOSTILE:
        for headers in (KEY, {}):
            answer = await gateway.client.post(path, content=body, headers=headers)
            assert answer.status_code == 400, body[:40]
            assert assert_is_ours(answer)["rc"] == "BadRequest"
    assert gateway.desk.asked == []


@pytest.mark.parametrize("path", READ_HERE)
async def test_wrong_types_of_every_key_get_a_json_400(gateway: Any, path: str) -> None:
    right: dict[str, dict[str, Any]] = {
        "pop": {
            "name": "w",
            "models": ["model"],
            "bridge_agent": "a:1:b",
            "threads": 1,
            "amount": 1,
            "max_length": 80,
            "max_context_length": 2048,
            "nsfw": True,
            "softprompts": [],
            "priority_usernames": [],
            "chat_jobs": True,
            "prompt_jobs": True,
            "chat_features": [],
            "chat_limits": {"max_context_length": 1, "max_length": 1, "tools_max_temperature": 1},
            "model_id": "model",
            "image_transports": [],
        },
        "progress": {"id": "g", "seq": 1, "delta": {"content": "a", "reasoning_content": "b"}},
        "submit": {"id": "g", "generation": "a", "state": "ok", "seed": 1, "gen_metadata": []},
    }
    good = right[path.rpartition("/")[2]]
    for key, value in good.items():
        for wrong in ({"x": 1} if not isinstance(value, dict) else [1], "\ud7ff" if not isinstance(value, str) else 5):
            answer = await gateway.client.post(path, json={**good, key: wrong}, headers=KEY)
            assert answer.status_code == 400, (key, wrong)
            assert any(at.split(".")[0] == key for at in assert_is_ours(answer)["errors"]), (key, answer.json())


async def test_a_body_that_declares_too_much_is_refused_before_it_is_sent(gateway: Any) -> None:
    port = int(gateway.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"POST /v2/generate/chat/async HTTP/1.1\r\nhost: x\r\napikey: %s\r\ncontent-length: %d\r\n\r\n"
        % (b"a" * 22, 36 * 1024 * 1024 + 1)
    )
    assert (await reader.readline()).startswith(b"HTTP/1.1 413")
    writer.close()


async def test_a_chunked_body_is_read_one_byte_past_the_limit(gateway: Any) -> None:
    async def endless() -> Any:
        for _ in range(37):
            yield b" " * 1024 * 1024

    answer = await gateway.client.post("/v2/generate/chat/async", content=endless(), headers=KEY)
    assert answer.status_code == 413
    assert assert_is_ours(answer)["rc"] == "RequestTooLarge"


async def test_a_submit_that_is_too_large_is_400_so_that_workers_drop_it(gateway: Any) -> None:
    body = b'{"id":"' + b"a" * (36 * 1024 * 1024) + b'"}'
    answer = await gateway.client.post("/v2/generate/text/submit", content=body, headers=KEY)
    assert (answer.status_code, answer.json()["rc"]) == (400, "BadRequest")


async def test_other_kinds_of_bodies_are_415(gateway: Any) -> None:
    for headers in ({"Content-Type": "text/html"}, {"Content-Encoding": "gzip", "Content-Type": "application/json"}):
        answer = await gateway.client.post("/v2/generate/text/pop", content=b"{}", headers={**KEY, **headers})
        assert answer.status_code == 415
        assert_is_ours(answer)


async def test_what_is_no_http_gets_json_too(gateway: Any) -> None:
    port = int(gateway.url.rpartition(":")[2])
    for sent in (
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n\r\n",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        answer = await asyncio.wait_for(reader.read(), 5)
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert json.loads(body)["message"]
        writer.close()


async def test_a_service_that_is_away_is_503_with_a_time_to_come_back() -> None:
    async with running(admission_target="127.0.0.1:1", dispatch_target="127.0.0.1:1") as gateway:
        answer = await gateway.client.post("/v2/generate/text/pop", json={"name": "w"}, headers=KEY)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert_is_ours(answer)
        beat = await gateway.client.get("/v2/status/heartbeat")
        assert (beat.status_code, beat.json()["message"]) == (200, "DOWN")


async def test_a_bug_of_a_service_or_of_ours_is_500_without_details(gateway: Any) -> None:
    gateway.desk.answers["ClaimJobs"] = ValueError("secret detail")
    answer = await gateway.client.post("/v2/generate/text/pop", json={"name": "w"}, headers=KEY)
    assert answer.status_code == 500
    assert assert_is_ours(answer) == {"message": "Internal Server Error"}
    never = workers_pb2.WorkerMessage(id="1", message="secret", expiry=Timestamp(seconds=10**15))
    gateway.desk.answers["ClaimJobs"] = dispatch.ClaimJobsResponse(messages=[never])
    ours = await gateway.client.post("/v2/generate/text/pop", json={"name": "w"}, headers=KEY)
    assert ours.status_code == 500
    assert assert_is_ours(ours) == {"message": "Internal Server Error"}


async def test_the_gateway_says_which_limit_was_exceeded(redis_url: str) -> None:
    desk = Desk(answers={"ListModels": dispatch.ListModelsResponse()})
    async with running(desk, redis_url=redis_url, rate_limits_enabled=True) as gateway:
        first = await gateway.client.get("/v2/status/modes/nowhere")
        assert "x-ratelimit-limit" not in first.headers
        counted = await gateway.client.get("/v2/status/models")
        assert (counted.headers["x-ratelimit-limit"], counted.headers["x-ratelimit-remaining"]) == ("90", "89")
        assert int(counted.headers["x-ratelimit-reset"]) > 1_700_000_000
        for _ in range(89):
            await gateway.client.get("/v2/status/models")
        last = await gateway.client.get("/api/v2/status/models")
        assert last.status_code == 429
        assert assert_is_ours(last) == {"message": "90 per 1 minute"}
        assert 0 < int(last.headers["retry-after"]) <= 60
        assert (await gateway.client.get("/v2/status/heartbeat")).status_code == 200


async def test_chat_submits_are_limited_by_address_and_by_key(redis_url: str) -> None:
    settings: dict[str, Any] = {"redis_url": redis_url, "rate_limits_enabled": True, "proxy_trusted_hops": 1}
    async with running(None, **settings, chat_request_2sec_limit_per_ip="3/minute") as gateway:
        statuses = [
            (
                await gateway.client.post(
                    "/v2/generate/chat/async", content=b"{", headers={"X-Forwarded-For": f"1.1.1.1, {address}"}
                )
            ).status_code
            for address in ("2.2.2.2",) * 4 + ("3.3.3.3",)
        ]
        assert statuses == [400, 400, 400, 429, 400]


async def test_rate_limits_survive_the_loss_of_redis() -> None:
    async with running(redis_url="redis://127.0.0.1:1/0", rate_limits_enabled=True) as gateway:
        answer = await gateway.client.get("/v2/status/models")
        assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (200, "89")


async def test_a_port_that_is_taken_is_one_clear_error() -> None:
    with bind("127.0.0.1:0") as taken, pytest.raises(Exception, match="is the port taken"):
        async with running(gateway_listen=f"127.0.0.1:{taken.getsockname()[1]}"):
            pass
