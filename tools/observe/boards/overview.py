"""Tells whether the horde is well, and if not, for whom and since when."""

from tools.observe.forms import COUNT, SECONDS, SHARE, Board, Figure, Graph, Line, Row
from tools.observe.promql import mean, now, or_none, per_second, quantile, top

_GATEWAY = "horde_gateway_request_seconds"

_PEOPLE = Row(
    "What people notice",
    (
        Figure(
            title="Answered, last hour",
            lines=[Line("1 - horde:call_errors:ratio_rate1h", "{{call}}")],
            told="The share of each kind of call that did not fail. The objective is 99.9 % of 30 days.",
            unit=SHARE,
            bad_below=0.9856,
            runbook="CallsFailFast",
            width=24,
        ),
        Graph(
            title="How fast the month's budget of errors burns",
            lines=[
                Line("horde:call_errors:ratio_rate5m / 0.001", "{{call}}, 5 min"),
                Line("horde:call_errors:ratio_rate1h / 0.001", "{{call}}, 1 h"),
                Line("horde:call_errors:ratio_rate6h / 0.001", "{{call}}, 6 h"),
                Line("horde:call_errors:ratio_rate3d / 0.001", "{{call}}, 3 d"),
            ],
            told="1 spends exactly the budget. Somebody is woken from 14.4 on in an hour; 6 in six hours and 1 in three"
            " days make a ticket.",
            unit=COUNT,
            runbook="CallsFailSlowly",
        ),
        Graph(
            title="99 % of the calls take less",
            lines=[Line("horde:call_seconds:p99_rate5m", "{{call}}")],
            told="A pop and a status that wait for news take as long as they are told to wait.",
            unit=SECONDS,
            runbook="CallsSlow",
        ),
        Graph(
            title="Calls that fail",
            lines=[
                Line(
                    top(10, per_second(f"{_GATEWAY}_count", "method", "route", "status", status="~5..")),
                    "{{status}} {{method}} {{route}}",
                )
            ],
            told="500 is a bug: the log has it with the request's id. 502 and 503 name a service that is away.",
            runbook="CallsFailFast",
        ),
        Graph(
            title="Calls by route",
            lines=[Line(top(12, per_second(f"{_GATEWAY}_count", "method", "route")), "{{method}} {{route}}")],
            told="Who calls, and did it change?",
        ),
        Graph(
            title="p99 by route",
            lines=[Line(top(12, quantile(0.99, _GATEWAY, "method", "route")), "{{method}} {{route}}")],
            told="Which of them is slow.",
            unit=SECONDS,
        ),
        Graph(
            title="Answers that say no, by return code",
            lines=[Line(top(12, per_second("horde_api_rejections_total", "rc")), "{{rc}}")],
            told="A jump is a client that changed, a limit that bites, or workers that went away.",
        ),
    ),
)

_WORK = Row(
    "What the horde does",
    (
        Graph(
            title="Requests in, jobs out",
            lines=[
                Line(or_none(per_second("horde_admission_chats_total", outcome="queued")), "chats queued"),
                Line(or_none(per_second("horde_admission_texts_total", outcome="queued")), "texts queued"),
                Line(or_none(per_second("horde_submit_outcomes_total", outcome="accepted")), "replies stored"),
            ],
            told="Replies should follow requests. Requests without replies: the queue stalls.",
            runbook="QueueStalls",
        ),
        Graph(
            title="Waiting for a worker",
            lines=[
                Line(quantile(share, "horde_text_queue_wait_seconds", "chat"), f"chat={{{{chat}}}} p{share * 100:g}")
                for share in (0.5, 0.95)
            ],
            told="From a request's creation to a worker. Long with many empty pops: workers are of the wrong kind.",
            unit=SECONDS,
        ),
        Graph(
            title="Pops",
            lines=[Line(per_second("horde_pop_returned_jobs_count", "outcome"), "{{outcome}}")],
            told="Pops that found a job, and pops that did not.",
        ),
        Graph(
            title="Submits",
            lines=[Line(per_second("horde_submit_outcomes_total", "outcome"), "{{outcome}}")],
            told="Faults and refused replies are workers' troubles; see dispatch.",
            runbook="LeasesLapse",
        ),
    ),
)

_WAY = Row(
    "What may be in the way",
    (
        Figure(
            title="Processes up",
            lines=[Line('sum by (job) (up{instance=~"$instance"})', "{{job}}")],
            told="As Prometheus reaches them.",
            width=12,
        ),
        Figure(
            title="Alerts that fire",
            lines=[Line('count by (alertname) (ALERTS{alertstate="firing"}) or vector(0)', "{{alertname}}")],
            told="Each has a runbook of its name.",
            bad_from=1,
            width=12,
        ),
        Graph(
            title="Bugs",
            lines=[
                Line(per_second("horde_rpc_faults_total", "service", "method"), "{{service}} {{method}}"),
                Line(per_second("horde_gateway_faults_total", "route"), "gateway {{route}}"),
            ],
            told="Exceptions nobody expected. Each is one log line with a traceback.",
            runbook="Faults",
        ),
        Graph(
            title="Neighbours that were away",
            lines=[Line(per_second("horde_gateway_outages_total", "neighbour"), "{{neighbour}}")],
            told="Calls that had to be answered with 503 because this service was not there.",
            runbook="NeighbourAway",
        ),
        Graph(
            title="Calls under way",
            lines=[Line(now("horde_gateway_requests_in_flight", "job"), "{{job}}")],
            told="Streams and waiting pops count. A wall that only grows: something hangs.",
            unit=COUNT,
        ),
        Graph(
            title="The latest loop of each service",
            lines=[
                Line(
                    'max by (job) (time() - horde_loop_last_success_timestamp_seconds{instance=~"$instance"})',
                    "{{job}}",
                )
            ],
            told="Hourly and nightly loops make high saws; see each service's dashboard for which it is.",
            unit=SECONDS,
            runbook="LoopLate",
        ),
        Graph(
            title="Runs of loops",
            lines=[Line(per_second("horde_loop_runs_total", "job", "outcome"), "{{job}} {{outcome}}")],
            told="`unavailable`: put off until a store or a neighbour is back. `fault`: a bug, with a line in the log.",
            runbook="LoopLate",
        ),
        Graph(
            title="What a run takes, mean",
            lines=[Line(top(10, mean("horde_loop_duration_seconds", "job", "loop")), "{{job}} {{loop}}")],
            told="A loop whose runs take longer than its pause does not keep up.",
            unit=SECONDS,
            runbook="LoopBehind",
        ),
        Graph(
            title="Calls between services that were tried again",
            lines=[
                Line(per_second("horde_rpc_client_retries_total", "neighbour", "method"), "{{neighbour}} {{method}}")
            ],
            told="Now and then during a roll-out. All the time: a neighbour drops calls.",
            runbook="NeighbourAway",
        ),
    ),
)

BOARD = Board(
    name="overview",
    title="Horde: overview",
    question="Is the horde well, and if not, for whom and since when? From what people notice to what may cause it.",
    rows=(_PEOPLE, _WORK, _WAY),
)
