"""The list of dispatch's loops: how often each runs."""

from datetime import timedelta

from horde.rpc.loops import Loop
from services.dispatch.deps import Deps
from services.dispatch.loops.abort_on_maintenance import abort_on_maintenance
from services.dispatch.loops.abort_stale_leases import abort_stale_leases
from services.dispatch.loops.compile_text_stats import compile_text_stats
from services.dispatch.loops.delete_objects import delete_objects
from services.dispatch.loops.deliver_reports import deliver_reports
from services.dispatch.loops.forget_messages import forget_messages
from services.dispatch.loops.keep_stats_months import keep_stats_months
from services.dispatch.loops.measure_backlogs import measure_backlogs
from services.dispatch.loops.refresh_worker_speeds import refresh_worker_speeds
from services.dispatch.loops.remove_expired_requests import remove_expired_requests
from services.dispatch.loops.remove_idle_lanes import remove_idle_lanes

_SELDOM = timedelta(minutes=10)
"""An idle lane costs one index probe for each pop that fits it, an old message a row: neither need go at once."""

_REPORTS = timedelta(seconds=5)
"""A suspicion that nobody waits for; one indexed read of a table that is nearly always empty."""

_MEASURED = timedelta(seconds=15)
"""As often as Prometheus usually looks."""

_COMPILED = timedelta(minutes=1)
"""base-domain 10.2: totals each minute."""

_MODES = timedelta(seconds=2)
"""Who switches the maintenance mode on waits for the queue to be empty; one read of one row."""


def every_loop(deps: Deps) -> list[Loop]:
    """All loops, for the process to run."""
    speeds = timedelta(seconds=deps.settings.worker_speed_interval_seconds)
    cleanup = timedelta(seconds=deps.settings.cleanup_interval_seconds)
    return [
        Loop("abort_stale_leases", cleanup, lambda: abort_stale_leases(deps)),
        Loop("remove_expired_requests", cleanup, lambda: remove_expired_requests(deps)),
        Loop("delete_objects", cleanup, lambda: delete_objects(deps)),
        Loop("abort_on_maintenance", _MODES, lambda: abort_on_maintenance(deps)),
        Loop("refresh_worker_speeds", speeds, lambda: refresh_worker_speeds(deps)),
        Loop("remove_idle_lanes", _SELDOM, lambda: remove_idle_lanes(deps)),
        Loop("deliver_reports", _REPORTS, lambda: deliver_reports(deps)),
        Loop("measure_backlogs", _MEASURED, lambda: measure_backlogs(deps)),
        Loop("compile_text_stats", _COMPILED, lambda: compile_text_stats(deps)),
        Loop("forget_messages", _SELDOM, lambda: forget_messages(deps)),
        Loop("keep_stats_months", _SELDOM, lambda: keep_stats_months(deps)),
    ]
