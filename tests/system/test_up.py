"""`horde up` as a person or a script meets it: what it prints, writes, reports and leaves behind."""

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from horde.cli.stack.buckets import client
from horde.cli.stack.environment import EVIDENCE_BUCKET, SERVICES
from horde.cli.stack.ports import free_ports
from tests.servers import ObjectStore, Restartable

KEYS = {
    *("gateway_url", "database_url", "redis_url", "s3_endpoint", "s3_access_key", "s3_secret_key"),
    *("metrics", "grpc", "pids"),
}
STORES = {"postgres", "valkey", "s3"}
GONE_SECONDS = 30


class Stack:
    """A running `horde up`."""

    facts: Mapping[str, Any]
    """What stack.json said, for who shares it."""

    def __init__(self, folder: Path, port: int, **settings: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HORDE_")}
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self._stderr = folder.parent / f"{port}.stderr"
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "horde", "up", "--port", str(port), "--data-dir", str(folder)],
                env={**environment, **settings},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )

    def wait_until_ready(self) -> Mapping[str, Any]:
        """Read stdout up to the `ready:` line; returns what stack.json says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line == f"ready: {self.url}\n", self.stderr()
        facts: Mapping[str, Any] = json.loads((self.folder / "stack.json").read_text())
        return facts

    def wait(self) -> int:
        """The exit code, once it has ended."""
        self.process.communicate(timeout=60)
        return self.process.returncode

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def stderr(self) -> str:
        """What it has told so far."""
        return self._stderr.read_text()


type Up = Callable[..., Stack]


@contextlib.contextmanager
def stacks() -> Iterator[Up]:
    """Start `horde up` on ports and folders of their own, which another user can reach; all end with the block."""
    started: list[Stack] = []
    with contextlib.ExitStack() as cleaning:

        def start(folder: Path | None = None, port: int | None = None, **settings: str) -> Stack:
            if folder is None:
                temporary = tempfile.TemporaryDirectory(prefix="up-", ignore_cleanup_errors=True)
                place = Path(cleaning.enter_context(temporary))
                place.chmod(0o711)
                folder = place / "data"
            stack = Stack(folder, port or free_ports(1)[0], **settings)
            started.append(stack)
            return stack

        yield start
        for stack in started:
            stack.process.send_signal(signal.SIGTERM)
            stack.process.communicate()  # also closes the pipe


@pytest.fixture
def up() -> Iterator[Up]:
    """Start a stack for one test; see `stacks`."""
    with stacks() as start:
        yield start


@pytest.fixture(scope="module")
def running() -> Iterator[Stack]:
    """One stack for the tests that leave it as it is: each start takes six interpreters."""
    with stacks() as start:
        stack = start()
        stack.facts = stack.wait_until_ready()
        yield stack


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def all_end(pids: Mapping[str, int]) -> bool:
    deadline = time.monotonic() + GONE_SECONDS
    while any(map(is_alive, pids.values())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_alive, pids.values()))


def test_it_writes_what_tools_need(running: Stack) -> None:
    facts = running.facts
    assert set(facts) == KEYS
    assert set(facts["metrics"]) == set(SERVICES)
    assert set(facts["grpc"]) == set(SERVICES) - {"gateway"}
    assert set(facts["pids"]) == {*SERVICES, *STORES}
    assert stat.S_IMODE((running.folder / "stack.json").stat().st_mode) == 0o600
    assert httpx.get(f"{running.url}/api/v2/status/heartbeat").status_code == 200
    for address in facts["metrics"].values():
        assert "python_info" in httpx.get(address).text


def test_moderators_pages_may_read_the_evidence_bucket_and_strangers_pages_may_not(running: Stack) -> None:
    facts = running.facts
    s3 = client(facts["s3_endpoint"], facts["s3_access_key"], facts["s3_secret_key"], "auto")
    link = s3.generate_presigned_url("get_object", Params={"Bucket": EVIDENCE_BUCKET, "Key": "evidence/1.json"})
    policy = httpx.get(f"{running.url}/admin/review").headers["content-security-policy"]
    assert f"connect-src 'self' {facts['s3_endpoint']};" in policy
    for origin, allowed in ((running.url, running.url), ("http://stranger.example", None)):
        assert httpx.get(link, headers={"Origin": origin}).headers.get("access-control-allow-origin") == allowed


def test_a_second_stack_on_the_same_folder_is_refused(running: Stack, up: Up) -> None:
    second = up(folder=running.folder)
    assert second.wait() == 2
    assert f"a stack is already running on {running.folder} (process {running.process.pid})" in second.stderr()


def test_two_stacks_on_one_machine_do_not_meet_and_leave_without_a_trace(running: Stack, up: Up) -> None:
    other = up()
    facts = other.wait_until_ready()
    addresses = [
        set(each["grpc"].values()) | {each["database_url"], each["redis_url"]} for each in (facts, running.facts)
    ]
    assert not addresses[0] & addresses[1]
    assert other.stop(signal.SIGINT) == 0
    assert all_end(facts["pids"])
    assert not (other.folder / "stack.json").exists()
    assert httpx.get(f"{running.url}/api/v2/status/heartbeat").status_code == 200


POP = {
    "name": "patient worker",
    "models": ["test/Patient-7B"],
    "chat_jobs": True,
    "model_id": "test/Patient-7B",
    "chat_limits": {"max_context_length": 4096, "max_length": 512},
    "chat_features": ["prompt_overflow_refused"],
}


def test_accounts_and_waiting_requests_outlive_a_killed_supervisor_and_a_service_that_dies_is_named(up: Up) -> None:
    first = up()
    facts = first.wait_until_ready()
    admin = [sys.executable, "-m", "horde", "admin", "user"]
    where = ["--data-dir", str(first.folder), "--json"]
    made = json.loads(subprocess.check_output([*admin, "create", "keeper", "--kudos", "77", *where]))
    key = {"apikey": made["api_key"]}
    httpx.post(f"{first.url}/api/v2/generate/text/pop", json=POP, headers=key).raise_for_status()
    body = {"model": POP["model_id"], "messages": [{"role": "user", "content": "Wait for me."}]}
    waiting = httpx.post(f"{first.url}/api/v2/generate/chat/async", json=body, headers={"apikey": "0000000000"})
    assert first.stop(signal.SIGKILL) == -signal.SIGKILL
    assert all_end(facts["pids"])

    second = up(folder=first.folder)
    facts = second.wait_until_ready()
    shown = json.loads(subprocess.check_output([*admin, "show", str(made["id"]), *where]))
    assert (shown["username"], shown["kudos"]) == (made["username"], 77)
    status = httpx.get(f"{second.url}/api/v2/generate/chat/status/{waiting.json()['id']}").json()
    assert (status["waiting"], status["done"]) == (1, False)
    job = httpx.post(f"{second.url}/api/v2/generate/text/pop", json=POP, headers=key).json()
    assert job["payload"]["messages"] == body["messages"]

    os.kill(facts["pids"]["dispatch"], signal.SIGKILL)
    assert second.wait() == 1
    assert "dispatch was ended by SIGKILL" in second.stderr()
    assert "Traceback" not in second.stderr()
    assert all_end(facts["pids"])


def test_a_taken_port_is_one_clear_message(up: Up) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        stack = up(port=port)
        assert stack.wait() == 2
    assert stack.stderr().strip() == f"horde: port {port} is taken: choose another with --port"


def test_a_bad_setting_is_named_and_nothing_stays(up: Up) -> None:
    stack = up(HORDE_TEXT_JOB_LEASE_SECONDS="soon")
    assert stack.wait() == 1
    assert "HORDE_TEXT_JOB_LEASE_SECONDS='soon'" in stack.stderr()
    assert "Traceback" not in stack.stderr()


def test_a_stop_while_it_starts_is_a_clean_stop(up: Up) -> None:
    stack = up()
    deadline = time.monotonic() + GONE_SECONDS
    while "valkey: ready" not in stack.stderr() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert stack.stop() == 0
    assert "Traceback" not in stack.stderr()


def test_servers_of_the_users_own_take_the_place_of_embedded_ones(
    up: Up, restartable_postgres: Restartable, restartable_redis: Restartable, s3: ObjectStore
) -> None:
    stack = up(
        HORDE_DATABASE_URL=restartable_postgres.url,
        HORDE_REDIS_URL=restartable_redis.url,
        HORDE_S3_ENDPOINT=s3.endpoint,
        HORDE_S3_ACCESS_KEY=s3.access_key,
        HORDE_S3_SECRET_KEY=s3.secret_key,
        R2_SOURCE_IMAGE_BUCKET="made-by-the-stack",
    )
    facts = stack.wait_until_ready()
    assert set(facts["pids"]) == set(SERVICES)
    assert facts["database_url"] == restartable_postgres.url
    assert httpx.get(f"{stack.url}/api/v2/status/heartbeat").status_code == 200
    assert stack.stop() == 0
