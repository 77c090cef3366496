"""The benchmark of streams measures what it says, on a system that runs."""

import asyncio

from horde.cli.bench.posts import compare
from horde.cli.bench.streams import measure, memory
from horde.cli.bench.system import System
from tests.system.services import SECRET, Services


def test_the_stream_benchmark_posts_reads_and_weighs(services: Services) -> None:
    pids = {name: process.pid for name, process in services._processes.items()}
    around = services._surroundings
    targets = {"progress": around.target("progress")}
    system = System(services.url, services.database_url, SECRET, pids, around.stores.redis_url, targets)
    reports = asyncio.run(compare(system, seconds=0.3, posters=4))
    assert [report.title.partition(",")[0] for report in reports] == [
        "posts alone",
        "posts together",
        "the script alone",
    ]
    assert [sorted(report.cpu) for report in reports] == [["progress"], ["progress"], ["caller"]]
    assert all(report.rate > 0 for report in reports)
    read = asyncio.run(measure(system, seconds=1.0, streams=3, posts_per_second=10))
    assert read.rate > 0
    assert all(0 <= late < 60 for late in read.calls["post to chunk"])
    weighed = asyncio.run(memory(system, streams=3))
    assert weighed.keys() == {"gateway before", "gateway with", "progress before", "progress with"}
    assert weighed["gateway with"] > 10
