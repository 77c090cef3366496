"""Starts progress: reads the environment, opens the doors, serves."""

import sys

from horde.clock import SystemClock
from horde.live import Live
from horde.rpc.client import Neighbour
from horde.rpc.server import Service, run, serve
from horde.settings import load
from services.progress.deps import Deps
from services.progress.live.keys import on_signal_database
from services.progress.live.leases import Leases
from services.progress.live.watching import Watching
from services.progress.neighbours import Dispatch
from services.progress.servicer import add_to
from services.progress.settings import ProgressServiceSettings


async def _serve() -> None:
    settings = load(ProgressServiceSettings)
    redis = on_signal_database(settings)
    dispatch = Neighbour(settings.dispatch_target, name="dispatch", settings=settings)
    try:
        async with Live.open(redis) as live, Watching.open(live, redis) as watching:
            deps = Deps(
                clock=SystemClock(),
                leases=Leases(live, settings, settings),
                watching=watching,
                dispatch=Dispatch(dispatch),
                secret_key=settings.secret_key,
            )
            service = Service(
                "progress",
                lambda server: add_to(server, deps),
                "horde_pb.progress.v1.ProgressService",
            )
            await serve(service, settings, ready={"redis": live.ping})
    finally:
        await dispatch.close()


def main() -> int:
    """The exit code of the process."""
    return run(_serve())


if __name__ == "__main__":
    sys.exit(main())
