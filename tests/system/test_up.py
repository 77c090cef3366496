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

from horde.cli.stack.environment import SERVICES
from horde.cli.stack.ports import free_ports

KEYS = {
    *("gateway_url", "database_url", "redis_url", "s3_endpoint", "s3_access_key", "s3_secret_key"),
    *("metrics", "grpc", "pids"),
}
STORES = {"postgres", "valkey", "s3"}
GONE_SECONDS = 30


class Stack:
    """A running `horde up`."""

    def __init__(self, folder: Path, port: int, *options: str, **settings: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HORDE_")}
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self._stderr = folder.parent / f"{port}.stderr"
        with self._stderr.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "horde", "up", "--port", str(port), "--data-dir", str(folder), *options],
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


@pytest.fixture
def up() -> Iterator[Up]:
    """Start `horde up` on a port and a folder of its own, which another user can reach; all end with the test."""
    started: list[Stack] = []
    with contextlib.ExitStack() as cleaning:

        def start(*options: str, folder: Path | None = None, port: int | None = None, **settings: str) -> Stack:
            if folder is None:
                place = Path(
                    cleaning.enter_context(tempfile.TemporaryDirectory(prefix="up-", ignore_cleanup_errors=True))
                )
                place.chmod(0o711)
                folder = place / "data"
            stack = Stack(folder, port or free_ports(1)[0], *options, **settings)
            started.append(stack)
            return stack

        yield start
        for stack in started:
            stack.process.send_signal(signal.SIGTERM)
            stack.process.communicate()  # also closes the pipe


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


def all_end(pids: Mapping[str, int]) -> bool:
    deadline = time.monotonic() + GONE_SECONDS
    while any(map(is_alive, pids.values())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_alive, pids.values()))


def test_it_writes_what_tools_need_and_leaves_nothing_behind(up: Up) -> None:
    stack = up()
    facts = stack.wait_until_ready()
    assert set(facts) == KEYS
    assert set(facts["metrics"]) == set(SERVICES)
    assert set(facts["grpc"]) == set(SERVICES) - {"gateway"}
    assert set(facts["pids"]) == {*SERVICES, *STORES}
    assert stat.S_IMODE((stack.folder / "stack.json").stat().st_mode) == 0o600
    assert httpx.get(f"{stack.url}/api/v2/status/heartbeat").status_code == 200
    for address in facts["metrics"].values():
        assert "python_info" in httpx.get(address).text
    assert stack.stop(signal.SIGINT) == 0
    assert all_end(facts["pids"])
    assert not (stack.folder / "stack.json").exists()


def test_data_is_kept_between_runs(up: Up) -> None:
    first = up()
    first.wait_until_ready()
    admin = [sys.executable, "-m", "horde", "admin", "user"]
    where = ["--data-dir", str(first.folder), "--json"]
    made = json.loads(subprocess.check_output([*admin, "create", "keeper", "--kudos", "77", *where]))
    assert first.stop() == 0
    second = up(folder=first.folder)
    second.wait_until_ready()
    shown = json.loads(subprocess.check_output([*admin, "show", str(made["id"]), *where]))
    assert (shown["username"], shown["kudos"]) == (made["username"], 77)


def test_a_service_that_dies_is_named_and_the_rest_stops(up: Up) -> None:
    stack = up()
    facts = stack.wait_until_ready()
    os.kill(facts["pids"]["dispatch"], signal.SIGKILL)
    assert stack.wait() == 1
    assert "dispatch was ended by SIGKILL" in stack.stderr()
    assert "Traceback" not in stack.stderr()
    assert all_end(facts["pids"])


def test_nothing_outlives_a_supervisor_that_was_killed_and_the_next_one_starts(up: Up) -> None:
    stack = up()
    facts = stack.wait_until_ready()
    assert stack.stop(signal.SIGKILL) == -signal.SIGKILL
    assert all_end(facts["pids"])
    up(folder=stack.folder).wait_until_ready()


def test_two_stacks_on_one_machine_do_not_meet(up: Up) -> None:
    one, other = up(), up()
    facts = one.wait_until_ready(), other.wait_until_ready()
    addresses = [set(each["grpc"].values()) | {each["database_url"], each["redis_url"]} for each in facts]
    assert not addresses[0] & addresses[1]
    assert one.stop() == 0
    assert httpx.get(f"{other.url}/api/v2/status/heartbeat").status_code == 200
    assert other.stop() == 0


def test_a_second_stack_on_the_same_folder_is_refused(up: Up) -> None:
    stack = up()
    stack.wait_until_ready()
    second = up(folder=stack.folder)
    assert second.wait() == 2
    assert f"a stack is already running on {stack.folder} (process {stack.process.pid})" in second.stderr()


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
