"""The rules that record how the calls fare that people notice: what share of each kind failed, and how long they took.

The alerts of deploy/observe/rules.yaml compare these shares over two windows at a time, as the Site Reliability
Workbook's chapter 5 does: the long window says that it matters, the short one that it still goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

_REQUESTS = "horde_gateway_request_seconds"
_OURS = 'code=~"internal_error|service_unavailable|upstream_unavailable"'
"""What the front tells inside a stream when the horde failed; the rest is a worker's failing or the client's."""

WINDOWS = {"call-ratios": ("30s", ("5m", "30m", "1h", "2h", "6h")), "call-ratios-of-days": ("2m", ("1d", "3d"))}
"""Groups of rules: how often they are evaluated (a value lives for five minutes, so well within), and the windows."""

HEAD = """# Made by `./run proto` from tools/observe/calls.py; do not edit.
# What share of the calls that people notice failed, over each window that an alert of rules.yaml looks at, and how long
# nearly all of them take.
groups:
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One kind of call at the gateway: the method and the routes it comes by."""

    name: str
    method: str
    routes: str

    def failed(self, window: str) -> str:
        """How many of them are answered with 5xx a second."""
        return f'sum(rate({_REQUESTS}_count{{{self._only},status=~"5.."}}[{window}]))'

    def all(self, window: str) -> str:
        """How many there are a second."""
        return f"sum(rate({_REQUESTS}_count{{{self._only}}}[{window}]))"

    def p99(self) -> str:
        """What 99 % of them stay under."""
        return f"histogram_quantile(0.99, sum by (le) (rate({_REQUESTS}_bucket{{{self._only}}}[5m])))"

    @property
    def _only(self) -> str:
        return f'method="{self.method}",route=~"{self.routes}"'


CALLS = (
    Call("submit", "POST", "/v2/generate/(chat|text)/async|/v1/chat/completions"),
    Call("pop", "POST", "/v2/generate/text/pop"),
    Call("reply", "POST", "/v2/generate/text/submit"),
    Call("progress", "POST", "/v2/generate/text/progress"),
    Call("status", "GET", "/v2/generate/(chat|text)/status/.+"),
)


def rules() -> str:
    """The file's text."""
    parts = [HEAD.rstrip("\n")]
    for group, (interval, windows) in WINDOWS.items():
        parts += [f"  - name: {group}", f"    interval: {interval}", "    rules:"]
        for window in windows:
            parts += _rules_of(f"horde:call_errors:ratio_rate{window}", _ratios(window))
    parts += ["  - name: call-times", "    interval: 30s", "    rules:"]
    parts += _rules_of("horde:call_seconds:p99_rate5m", ((call.name, call.p99()) for call in CALLS))
    return "\n".join(parts) + "\n"


def _ratios(window: str) -> Iterator[tuple[str, str]]:
    for call in CALLS:
        yield call.name, f"({call.failed(window)} or vector(0)) / {call.all(window)}"
    broken = f'sum(rate(horde_oai_errors_total{{stage="stream"}}[{window}])) or vector(0)'
    ours = f'sum(rate(horde_oai_errors_total{{stage="stream",{_OURS}}}[{window}])) or vector(0)'
    yield "stream", f"({ours}) / (sum(rate(horde_oai_first_delta_seconds_count[{window}])) + ({broken}))"


def _rules_of(record: str, expressions: Iterator[tuple[str, str]]) -> Iterator[str]:
    for call, expr in expressions:
        yield f"      - record: {record}"
        yield f"        labels: {{call: {call}}}"
        yield f"        expr: >-\n          {expr}"
