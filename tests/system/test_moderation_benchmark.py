"""`horde bench moderation` measures what it says, on a system that runs."""

import asyncio
from collections.abc import Callable

from horde.cli.bench.moderation import SETTINGS, measure
from horde.cli.bench.report import Report
from horde.cli.bench.system import System
from tests.servers import ObjectStore
from tests.system.services import SECRET, Services

EVENTS, BACKLOG = 400, 30


def test_the_moderation_benchmark_reads_every_page_and_waits_until_retention_has_caught_up(
    new_services: Callable[..., Services], s3: ObjectStore
) -> None:
    services = new_services(
        **dict(SETTINGS)
        | {
            "HORDE_MODERATION_RETENTION_INTERVAL_SECONDS": "1",
            "HORDE_MODERATION_SWEEP_INTERVAL_SECONDS": "1",
            "R2_EVIDENCE_ACCOUNT": s3.endpoint,
            "R2_EVIDENCE_BUCKET": s3.bucket("evidence"),
            "EVIDENCE_AWS_ACCESS_KEY_ID": s3.access_key,
            "EVIDENCE_AWS_SECRET_ACCESS_KEY": s3.secret_key,
        }
    )
    pids = {name: process.pid for name, process in services._processes.items()}
    metrics = {"moderation": services._metrics_url("moderation")}
    system = System(services.url, services.database_url, SECRET, pids, redis_url="", grpc={}, metrics=metrics)

    async def reports() -> list[Report]:
        return [report async for report in measure(system, events=EVENTS, calls=1, backlog=BACKLOG)]

    review, retention = asyncio.run(reports())
    assert review.errors == {}
    assert {"one event", "busy address, unmarked", "access log", "queues sort=owner", "preview"} <= review.calls.keys()
    assert all(len(times) == 1 for times in review.calls.values())
    assert retention.calls["tick"]
    assert retention.calls["proof"]
    assert round(retention.rate * retention.seconds) >= 7 * BACKLOG
    assert {"moderation", "gateway"} <= review.cpu.keys()
