"""`horde bench media` measures what it says, on a media service that runs."""

import asyncio

from horde.cli.bench.media import measure, pictures
from horde.cli.bench.system import System
from tests.system.services import SECRET, Services


def test_the_media_benchmark_stores_each_kind_and_a_full_request(services: Services) -> None:
    pids = {name: process.pid for name, process in services._processes.items()}
    target = f"127.0.0.1:{services._surroundings.grpc_ports['media']}"
    system = System(services.url, services.database_url, SECRET, pids, redis_url="", grpc={"media": target})
    report = asyncio.run(measure(system, seconds=0.1, images=4, kinds=pictures(100)))
    assert list(report.calls) == [
        "PNG 100x100",
        "JPEG 100x100",
        "WebP 100x100",
        "photo",
        "4 photos in one request",
    ]
    assert all(len(times) >= 3 for times in report.calls.values())
    assert "MiB" in report.title
    assert report.cpu["media"] > 0
