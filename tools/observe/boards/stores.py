"""Tells whether Postgres and Redis are there, fast enough, and large enough."""

from tools.observe.forms import COUNT, SECONDS, Board, Figure, Graph, Line, Row
from tools.observe.promql import mean, now, per_second, quantile, quantiles, top

_POOL = "horde_store_pool_connections"

_POSTGRES = Row(
    "Postgres",
    (
        Graph(
            title="Busy connections, of the limit",
            lines=[
                Line(
                    f"({now(_POOL, 'job', 'instance', state='open')} - {now(_POOL, 'job', 'instance', state='idle')})"
                    f" / {now(_POOL, 'job', 'instance', state='limit')}",
                    "{{job}} {{instance}}",
                )
            ],
            told="1: every further statement waits its turn, which shows in its time below.",
            unit="percentunit",
            runbook="PoolExhausted",
        ),
        Graph(
            title="Statements",
            lines=[Line(per_second("horde_store_query_seconds_count", "job"), "{{job}}")],
            told="A second, by service.",
            stacked=True,
        ),
        Graph(
            title="A statement",
            lines=quantiles("horde_store_query_seconds"),
            told="Of all services, waiting for a connection included.",
            unit=SECONDS,
        ),
        Graph(
            title="Statements by time spent",
            lines=[Line(top(12, per_second("horde_store_query_seconds_sum", "query")), "{{query}}")],
            told="Seconds a second: where to save.",
            unit=SECONDS,
        ),
        Graph(
            title="The slowest, p99",
            lines=[Line(top(12, quantile(0.99, "horde_store_query_seconds", "query")), "{{query}}")],
            told="EXPLAIN these first.",
            unit=SECONDS,
        ),
        Graph(
            title="Statements that fail",
            lines=[
                Line(
                    per_second("horde_store_query_seconds_count", "query", "outcome", outcome="~unavailable|error"),
                    "{{query}} {{outcome}}",
                ),
                Line(per_second("horde_store_read_retries_total", "job"), "repeated on a fresh connection, {{job}}"),
                Line(per_second("horde_db_pool_timeout_total", "job"), "waited in vain for a connection, {{job}}"),
            ],
            told="`unavailable`: Postgres was away or too slow. `error`: a bug.",
        ),
        Graph(
            title="Channels heard",
            lines=[Line(now("horde_store_listening", "job", "channel", how="min"), "{{job}} {{channel}}")],
            told="0: what the channel says is found out seconds late.",
            unit=COUNT,
            runbook="ListenLost",
        ),
        Graph(
            title="Messages heard",
            lines=[Line(per_second("horde_store_messages_total", "channel"), "{{channel}}")],
            told="One for each request that is queued while pops wait.",
        ),
    ),
)

_REDIS = Row(
    "Redis",
    (
        Figure(
            title="Gateways that count alone",
            lines=[Line(now("horde_ratelimit_alone", "instance", how="max"), "{{instance}}")],
            told="1: Redis is away, each gateway counts its limits for itself.",
            bad_from=1,
            runbook="RedisAway",
            width=24,
        ),
        Graph(
            title="Scripts",
            lines=[Line(per_second("horde_live_script_seconds_count", "script", "outcome"), "{{script}} {{outcome}}")],
            told="A second.",
        ),
        Graph(
            title="A script, p99",
            lines=[Line(quantile(0.99, "horde_live_script_seconds", "script"), "{{script}}")],
            told="As its caller sees it, the way there and back included.",
            unit=SECONDS,
        ),
        Graph(
            title="Commands that share a round trip",
            lines=[Line(mean("horde_progress_batch_commands"), "mean")],
            told="How many posts progress sends at once.",
            unit=COUNT,
        ),
        Graph(
            title="Limits counted",
            lines=[
                Line(per_second("horde_ratelimit_hits_total", "outcome"), "{{outcome}}"),
                Line(per_second("horde_ratelimit_fallbacks_total"), "counted in the process, for want of Redis"),
            ],
            told="Refused ones got 429.",
            runbook="RedisAway",
        ),
    ),
)

BOARD = Board(
    name="stores",
    title="Horde: Postgres and Redis",
    question="Are Postgres and Redis there, fast enough, and large enough?",
    rows=(_POSTGRES, _REDIS),
)
