"""The gateway as a process: its start, its probes, its end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from horde.rpc.probes import bind
from horde_pb.admission.v1 import admission_service_pb2 as admission
from tests.fakes.gateway_services import Desk, fake_services
from tests.fakes.patience import until

KEY = {"apikey": "a" * 22}


async def start(target: str, folder: Path, **variables: str) -> asyncio.subprocess.Process:
    """The process, listening wherever it likes."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HORDE_")}
    environ |= {f"HORDE_{name}_TARGET": target for name in ("ADMISSION", "DISPATCH", "PROGRESS", "MODERATION")}
    environ |= {
        "HORDE_REDIS_URL": "redis://127.0.0.1:1/0",
        "HORDE_GATEWAY_LISTEN": "127.0.0.1:0",
        "HORDE_ADDRESS_FILE": str(folder / "addresses.json"),
        "HORDE_DRAIN_SECONDS": "5",
        **variables,
    }
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.gateway", env=environ, stderr=asyncio.subprocess.PIPE
    )


@asynccontextmanager
async def started(target: str, folder: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, dict[str, Any]]]:
    process = await start(target, folder)
    try:
        async with asyncio.timeout(30):
            while not (folder / "addresses.json").exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.05)
        yield process, json.loads((folder / "addresses.json").read_text())
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_it_tells_whether_it_is_ready_and_what_it_did(tmp_path: Path) -> None:
    async with fake_services(Desk()) as target, started(target, tmp_path) as (_, at), httpx.AsyncClient() as client:
        probes = at["metrics"].removesuffix("/metrics")
        assert (await client.get(f"{probes}/readyz")).json() == {"status": "ready"}
        assert (await client.get(f"{at['http']}/v2/status/heartbeat")).status_code == 200
        assert (await client.get(f"{at['http']}/v2/nowhere")).status_code == 404
        assert (await client.get(f"{at['http']}/v2/find_user")).status_code == 400
        metrics = (await client.get(at["metrics"])).text
        route = 'method="GET",route="/v2/status/heartbeat",status="200"'
        assert f"horde_gateway_request_seconds_count{{{route}}} 1.0" in metrics
        for rc, status, route in (("Unlisted", 404, "unmatched"), ("BadRequest", 400, "/v2/find_user")):
            labels = f'http_request_method="GET",http_response_status_code="{status}",http_route="{route}",rc="{rc}"'
            assert f"horde_api_rejections_total{{{labels}}} 1.0" in metrics


async def test_it_is_not_ready_without_its_services(tmp_path: Path) -> None:
    async with started("127.0.0.1:1", tmp_path) as (_, at), httpx.AsyncClient() as client:
        answer = await client.get(f"{at['metrics'].removesuffix('/metrics')}/readyz")
        assert answer.status_code == 503
        assert set(answer.json()["failing"]) == {"admission", "dispatch", "progress", "moderation"}


async def test_a_request_under_way_is_answered_after_the_signal_to_stop(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def slowly(_: Any) -> admission.AdmitChatResponse:
        begun.set()
        await asyncio.sleep(1)
        return admission.AdmitChatResponse(outcome=admission.ADMIT_OUTCOME_QUEUED, request_id="x", kudos=1)

    async with (
        fake_services(Desk(answers={"AdmitChat": slowly})) as target,
        started(target, tmp_path) as (process, at),
        httpx.AsyncClient() as client,
    ):
        answering = asyncio.create_task(client.post(f"{at['http']}/v2/generate/chat/async", content=b"{}", headers=KEY))
        await begun.wait()
        process.send_signal(signal.SIGTERM)
        assert (await answering).status_code == 202
        async with asyncio.timeout(20):
            assert await process.wait() == 0


async def test_who_keeps_a_connection_is_asked_to_leave_it_before_it_is_closed(tmp_path: Path) -> None:
    async with (
        fake_services(Desk()) as target,
        started(target, tmp_path) as (process, at),
        httpx.AsyncClient() as kept,
        httpx.AsyncClient() as other,
    ):
        heartbeat = f"{at['http']}/v2/status/heartbeat"
        for client in (kept, other):
            assert (await client.get(heartbeat)).headers.get("connection") is None
        process.send_signal(signal.SIGTERM)
        # it still takes new connections, for whoever was sent here before the news had spread
        await until(lambda: _is_asked_to_leave(heartbeat))
        for client in (kept, other):
            last = await client.get(heartbeat)
            assert (last.status_code, last.headers["connection"]) == (200, "close")
        async with asyncio.timeout(10):
            assert await process.wait() == 0


async def test_a_taken_port_and_a_bad_setting_are_one_message_and_exit_code_2(tmp_path: Path) -> None:
    with bind("127.0.0.1:0") as taken:
        port = taken.getsockname()[1]
        process = await start("127.0.0.1:1", tmp_path, HORDE_GATEWAY_LISTEN=f"127.0.0.1:{port}")
        _, told = await process.communicate()
    assert process.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in told.decode()
    assert "Traceback" not in told.decode()

    process = await start("127.0.0.1:1", tmp_path, HORDE_PROXY_TRUSTED_HOPS="many", HORDE_FRONT_KEEPALIVE="maybe")
    _, told = await process.communicate()
    assert process.returncode == 2
    assert "HORDE_PROXY_TRUSTED_HOPS" in told.decode()
    assert "HORDE_FRONT_KEEPALIVE" in told.decode()
    assert "Traceback" not in told.decode()


async def _is_asked_to_leave(url: str) -> bool:
    """Whether who comes anew is served and told that it was the last time."""
    async with httpx.AsyncClient() as new:
        answer = await new.get(url)
    assert answer.status_code == 200
    return bool(answer.headers.get("connection") == "close")
