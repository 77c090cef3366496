"""Tells whether text reaches people while it is written."""

from tools.observe.boards import shared
from tools.observe.forms import COUNT, SECONDS, Board, Graph, Line, Row
from tools.observe.promql import mean, now, per_second, quantile, quantiles, top

_V1 = {"route": "~/v1/.*"}

_FRONT = Row(
    "OpenAI's clients",
    (
        Graph(
            title="Completions",
            lines=[
                Line(
                    per_second("horde_oai_completions_total", "finish_reason", "lowered"),
                    "{{finish_reason}}, lowered={{lowered}}",
                )
            ],
            told="Delivered. `lowered`: with fewer tokens than asked for.",
            stacked=True,
        ),
        Graph(
            title="Errors told",
            lines=[
                Line(
                    top(12, per_second("horde_oai_errors_total", "stage", "status", "code")),
                    "{{stage}} {{status}} {{code}}",
                )
            ],
            told="`pre` before the answer began, `stream` within it. 5xx within a stream burns the budget of streams.",
            runbook="CallsFailFast",
        ),
        Graph(
            title="Time to the first text",
            lines=quantiles("horde_oai_first_delta_seconds"),
            told="From acceptance: the queue's wait, the worker's prompt processing, and one post.",
            unit=SECONDS,
        ),
        Graph(
            title="Calls of /v1",
            lines=[
                Line(
                    per_second("horde_gateway_request_seconds_count", "route", "status", **_V1), "{{status}} {{route}}"
                )
            ],
            told="By route and status.",
        ),
        Graph(
            title="Streams that changed hands",
            lines=[Line(per_second("horde_oai_restarts_total", "outcome"), "{{outcome}}")],
            told="A worker was lost. `silent`: nothing had been sent; `prefix`: the text went on; `error`: no way.",
            runbook="LeasesLapse",
        ),
        Graph(
            title="Cancelled by the front, attached again",
            lines=[
                Line(per_second("horde_oai_cancelled_total", "cause"), "cancelled: {{cause}}"),
                Line(per_second("horde_oai_attached_retries_total"), "repeats that found their request"),
            ],
            told="`disconnect` is a client that left; the others are limits of ours.",
        ),
    ),
)

_POSTS = Row(
    "Workers' posts",
    (
        Graph(
            title="Posts",
            lines=[Line(per_second("horde_progress_posts_total", "outcome"), "{{outcome}}")],
            told="Anything but accepted is told to the worker.",
        ),
        Graph(
            title="Their route, p99",
            lines=[
                Line(
                    quantile(0.99, "horde_gateway_request_seconds", "route", route="/v2/generate/text/progress"),
                    "{{route}}",
                ),
                Line(
                    quantile(0.99, "horde_rpc_server_seconds", "method", method="AppendProgress"), "of it: {{method}}"
                ),
            ],
            told="A worker waits for its post before it sends the next.",
            unit=SECONDS,
        ),
        Graph(
            title="Commands that share a round trip",
            lines=[Line(mean("horde_progress_batch_commands"), "mean")],
            told="Grows with the load: that is how Redis keeps up.",
            unit=COUNT,
        ),
    ),
)

_WATCHERS = Row(
    "Those who watch",
    (
        Graph(
            title="Requests followed",
            lines=[
                Line(now("horde_progress_watched_requests", "instance"), "{{instance}}"),
                Line(now("horde_rpc_server_streams", "service", "method"), "streams of {{method}}"),
            ],
            told="Streams and waiting statuses of the gateways. All that a gateway follows share one stream.",
            unit=COUNT,
        ),
        Graph(
            title="HTTP calls under way",
            lines=[Line(now("horde_gateway_requests_in_flight", "instance"), "{{instance}}")],
            told="By gateway: is the load spread?",
            unit=COUNT,
        ),
        Graph(
            title="Scripts in Redis, p99",
            lines=[Line(quantile(0.99, "horde_live_script_seconds", "script", job="progress"), "{{script}}")],
            told="Slow here: see Postgres and Redis.",
            unit=SECONDS,
        ),
        Graph(
            title="Limits",
            lines=[Line(per_second("horde_ratelimit_hits_total", "outcome"), "{{outcome}}")],
            told="Calls counted against a limit; refused ones got 429.",
            runbook="RedisAway",
        ),
        shared.neighbours("gateway"),
        shared.neighbours("progress"),
    ),
)

BOARD = Board(
    name="streaming",
    title="Horde: streaming and front",
    question="Does text reach people while it is written?",
    rows=(_FRONT, _POSTS, _WATCHERS, shared.rpcs("progress")),
)
