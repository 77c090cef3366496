"""Moderation's composition root: settings in, a serving process out."""

import sys

from horde.clock import SystemClock
from horde.live import Live
from horde.rpc.server import Service, run, serve
from horde.settings import load
from horde.store import Store
from horde.telemetry import logs
from services.moderation.deps import compose
from services.moderation.schedule import check_start, every_loop
from services.moderation.servicer import add_to
from services.moderation.settings import ModerationServiceSettings


async def _serve() -> None:
    settings = load(ModerationServiceSettings)
    logs.configure(settings, "moderation")
    async with Store.open(settings, application_name="moderation") as store, Live.open(settings) as live:
        await store.check_schema()
        deps = compose(store, live, SystemClock(), settings)
        await check_start(deps)
        await serve(
            Service(
                "moderation",
                lambda server: add_to(server, deps),
                "horde_pb.moderation.v1.ModerationService",
            ),
            settings,
            ready={"postgres": store.ping, "redis": live.ping},
            loops=every_loop(deps),
        )
        await deps.settle()
        deps.evidence.close()


def main() -> int:
    """Runs the service; the exit code."""
    return run(_serve())


if __name__ == "__main__":
    sys.exit(main())
