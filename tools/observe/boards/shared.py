"""Rows that several dashboards have."""

from tools.observe.forms import COUNT, SECONDS, Figure, Graph, Line, Row
from tools.observe.promql import now, per_second, quantile, top

_SERVER = "horde_rpc_server_seconds"


def rpcs(service: str) -> Row:
    """How often each RPC of a service is called, how its calls end, and how long nearly all of them take."""
    only = {"service": service}
    return Row(
        f"RPCs of {service}",
        (
            Graph(
                title="Calls",
                lines=[Line(per_second(f"{_SERVER}_count", "method", **only), "{{method}}")],
                told="Calls a second. Which RPC carries the load?",
                stacked=True,
            ),
            Graph(
                title="How they end",
                lines=[Line(per_second(f"{_SERVER}_count", "code", **only), "{{code}}")],
                told="Refusals have codes of their own and are no failures; INTERNAL is a bug, UNAVAILABLE a store or a"
                " neighbour that is away.",
                runbook="Faults",
            ),
            Graph(
                title="p99",
                lines=[Line(quantile(0.99, _SERVER, "method", **only), "{{method}}")],
                told="99 % of the calls of each RPC take less.",
                unit=SECONDS,
            ),
        ),
    )


def neighbours(job: str) -> Graph:
    """What a service waits for when it asks others."""
    return Graph(
        title="Waiting for others, p99",
        lines=[
            Line(
                top(10, quantile(0.99, "horde_rpc_client_seconds", "neighbour", "method", job=job)),
                "{{neighbour}} {{method}}",
            )
        ],
        told="A slow RPC above with a slow line here: go to that neighbour's dashboard.",
        unit=SECONDS,
        runbook="NeighbourAway",
    )


def statements(job: str) -> Graph:
    """The statements that a service spends its time in."""
    return Graph(
        title="Statements by time spent",
        lines=[Line(top(10, per_second("horde_store_query_seconds_sum", "query", job=job)), "{{query}}")],
        told="Seconds of waiting for Postgres a second. What grows with the latency above is its cause.",
        unit=SECONDS,
    )


def loops(job: str) -> Graph:
    """When a service's loops last did their work."""
    return Graph(
        title="Loops: since their last success",
        lines=[
            Line(f"time() - {now('horde_loop_last_success_timestamp_seconds', 'loop', how='max', job=job)}", "{{loop}}")
        ],
        told="A saw that does not come down: the loop fails or hangs; its log line says why.",
        unit=SECONDS,
        runbook="LoopLate",
    )


def pool(job: str) -> Figure:
    """Connections of a service that are busy."""
    return Figure(
        title="Busy connections",
        lines=[
            Line(
                f"{now('horde_store_pool_connections', state='open', job=job)}"
                f" - {now('horde_store_pool_connections', state='idle', job=job)}",
                "busy",
            ),
            Line(now("horde_store_pool_connections", state="limit", job=job), "limit"),
        ],
        told="At the limit every further statement waits its turn.",
        unit=COUNT,
        runbook="PoolExhausted",
    )
