"""The list of dispatch's loops: how often each runs."""

from datetime import timedelta

from horde.rpc.loops import Loop
from services.dispatch.deps import Deps
from services.dispatch.loops.abort_on_maintenance import abort_on_maintenance
from services.dispatch.loops.abort_stale_leases import abort_stale_leases
from services.dispatch.loops.delete_objects import delete_objects
from services.dispatch.loops.refresh_worker_speeds import refresh_worker_speeds
from services.dispatch.loops.remove_expired_requests import remove_expired_requests
from services.dispatch.loops.remove_idle_lanes import remove_idle_lanes

_LANES_EVERY = timedelta(minutes=10)
"""An idle lane costs one index probe for each pop that fits it; it need not go at once."""


def every_loop(deps: Deps) -> list[Loop]:
    """All loops, for the process to run."""
    speeds = timedelta(seconds=deps.settings.worker_speed_interval_seconds)
    cleanup = timedelta(seconds=deps.settings.cleanup_interval_seconds)
    return [
        Loop("abort_stale_leases", cleanup, lambda: abort_stale_leases(deps)),
        Loop("remove_expired_requests", cleanup, lambda: remove_expired_requests(deps)),
        Loop("delete_objects", cleanup, lambda: delete_objects(deps)),
        Loop("abort_on_maintenance", cleanup, lambda: abort_on_maintenance(deps)),
        Loop("refresh_worker_speeds", speeds, lambda: refresh_worker_speeds(deps)),
        Loop("remove_idle_lanes", _LANES_EVERY, lambda: remove_idle_lanes(deps)),
    ]
