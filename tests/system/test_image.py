"""The image, built for real: small, harmless, and each service is an argument of it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.servers import Database
from tests.system.image_build import Builder, delete

SERVICES = ("gateway", "admission", "dispatch", "progress", "media", "moderation")
MOST_BYTES = 300_000_000
"""Over the base. Measured: 268 MB, of which the gRPC, image, S3 and SQL libraries are two thirds."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="buildah is used as root here"),
]


@pytest.fixture(scope="module")
def image(system_tool: Callable[[str], Path]) -> Iterator[Builder]:
    """The built image. Its folder is not pytest's, which would delete it whatever is mounted there."""
    for tool in ("buildah", "debootstrap"):
        system_tool(tool)
    builder = Builder(Path(tempfile.mkdtemp(prefix="chat-horde-image-")))
    try:
        builder.make_base()
        builder.build()
        yield builder
    finally:
        builder.remove()


def ran(image: Builder, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a container of its own."""
    with image.container() as (name, _):
        command = image.command(name, *words, environment=environment)
        return subprocess.run(command, env=image.environment, capture_output=True, text=True, timeout=120, check=False)


def test_it_runs_as_nobody_in_particular_and_takes_the_service_as_argument(image: Builder) -> None:
    told = image.configuration()
    assert told["User"] == "10001:10001"
    assert told["Entrypoint"] == ["horde"]
    assert told["Cmd"] == ["serve", "gateway"]
    assert ran(image, "id", "-u").stdout.strip() == "10001"
    for service in SERVICES:
        done = ran(image, *told["Entrypoint"], "serve", service)
        assert done.returncode == 2, done
        assert "settings cannot be used" in done.stderr
        assert "HORDE_REDIS_URL is not set" in done.stderr or "HORDE_DATABASE_URL is not set" in done.stderr


def test_it_brings_an_empty_database_to_head(image: Builder, empty_database: Database) -> None:
    done = ran(image, "horde", "migrate", HORDE_DATABASE_URL=empty_database.url)
    assert done.returncode == 0, done.stderr
    done = ran(image, "horde", "migrate", "--check", HORDE_DATABASE_URL=empty_database.url)
    assert done.returncode == 0, done.stderr


def test_it_serves_from_a_file_system_that_it_writes_nothing_to_but_tmp(image: Builder, redis_url: str) -> None:
    with image.container() as (name, files):
        marker = time.time()
        variables = {
            "HORDE_REDIS_URL": redis_url,
            "HORDE_GATEWAY_LISTEN": "127.0.0.1:0",
            "HORDE_ADDRESS_FILE": "/tmp/addresses.json",  # noqa: S108 - the one place the image may write
        }
        command = image.command(name, "horde", "serve", "gateway", environment=variables)
        with subprocess.Popen(command, env=image.environment, stderr=subprocess.PIPE) as process:
            addresses = files / "tmp" / "addresses.json"
            ends_at = time.monotonic() + 60
            while not addresses.exists() and process.poll() is None and time.monotonic() < ends_at:
                time.sleep(0.1)
            told = json.loads(addresses.read_text())
            assert httpx.get(told["metrics"].replace("/metrics", "/healthz"), timeout=10).status_code == 200
            assert httpx.get(f"{told['http']}/api/openapi.json", timeout=30).status_code == 200
            assert Path(f"/proc/{told['pid']}").stat().st_uid == 10001
            os.kill(told["pid"], signal.SIGTERM)
            process.communicate(timeout=60)
            assert process.returncode == 0
        written = [
            path.relative_to(files)
            for path in files.rglob("*")
            if path.is_file() and not path.is_symlink() and path.stat().st_mtime > marker
        ]
        assert [path for path in written if path.parts[0] != "tmp"] == []
        anyones = [
            path.relative_to(files)
            for path in files.rglob("*")
            if not path.is_symlink() and path.lstat().st_mode & 0o002 and path.stat().st_dev == files.stat().st_dev
        ]
        assert {str(path) for path in anyones if path.parts[0] not in {"dev", "proc"}} <= {
            "tmp",
            "var/tmp",
            "run/lock",
            "tmp/addresses.json",
        }


def test_a_folder_in_which_something_is_mounted_is_not_deleted(tmp_path: Path) -> None:
    system, inside = tmp_path / "system", tmp_path / "system" / "dev"
    inside.mkdir(parents=True)
    (system / "kept").touch()
    mount, unmount = ["mount", "-t", "tmpfs", "none", str(inside)], ["umount", str(inside)]
    subprocess.run(mount, check=True)
    try:
        (inside / "null").touch()
        with pytest.raises(AssertionError, match="still mounted"):
            delete(system)
        assert (inside / "null").exists()
        assert (system / "kept").exists()
    finally:
        subprocess.run(unmount, check=True)
    delete(system)
    assert not system.exists()


def test_it_is_small(image: Builder) -> None:
    assert image.bytes_over_base() < MOST_BYTES
