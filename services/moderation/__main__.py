"""Moderation's composition root: settings in, a serving process out."""

import sys
from datetime import timedelta
from functools import partial

from horde.clock import SystemClock
from horde.live import Live
from horde.rpc.server import Loop, Service, run, serve
from horde.settings import load
from horde.store import Store
from horde.telemetry import logs
from horde_pb.moderation.v1.moderation_service_pb2_grpc import add_ModerationServiceServicer_to_server
from services.moderation.deps import compose
from services.moderation.rules.ip_subject import has_real_secret
from services.moderation.servicer import ModerationServicer
from services.moderation.settings import ModerationServiceSettings

log = logs.get(__name__)


async def _serve() -> None:
    settings = load(ModerationServiceSettings)
    logs.configure(settings, "moderation")
    if not has_real_secret(settings.secret_key):
        log.warning("no pseudonyms", why="secret_key is unset or a known example value")
    async with Store.open(settings, application_name="moderation") as store, Live.open(settings) as live:
        await store.check_schema()
        deps = compose(store, live, SystemClock(), settings)
        servicer = ModerationServicer(deps)
        await serve(
            Service(
                "moderation",
                partial(add_ModerationServiceServicer_to_server, servicer),
                "horde_pb.moderation.v1.ModerationService",
            ),
            settings,
            ready={"postgres": store.ping, "redis": live.ping},
            loops=[
                Loop(
                    "refresh_filters",
                    timedelta(seconds=settings.moderation_filter_refresh_seconds),
                    deps.filters.refresh,
                )
            ],
        )
        await deps.settle()


def main() -> int:
    """Runs the service; the exit code."""
    return run(_serve())


if __name__ == "__main__":
    sys.exit(main())
