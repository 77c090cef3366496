"""The PromQL of the panels, written once: a rate (`per_second`), a share of events (`quantile`), or what is (`now`).

`$instance` narrows each to some processes; rates are taken over `$__rate_interval`. A matcher's value that begins with
`~` is a regular expression.
"""

from collections.abc import Sequence

from tools.observe.forms import Line


def per_second(metric: str, *by: str, **only: str) -> str:
    """How often something happens a second, one line for each value of `by`."""
    return f"sum{_by(by)} (rate({metric}{_only(only)}[$__rate_interval]))"


def quantile(share: float, histogram: str, *by: str, **only: str) -> str:
    """The value that this share of the events stays under."""
    return f"histogram_quantile({share}, {per_second(f'{histogram}_bucket', 'le', *by, **only)})"


def quantiles(histogram: str, **only: str) -> list[Line]:
    """Half, most and nearly all of the events stay under these."""
    return [Line(quantile(share, histogram, **only), f"p{share * 100:g}") for share in (0.5, 0.95, 0.99)]


def mean(histogram: str, *by: str, **only: str) -> str:
    """The mean of the events of the last moments."""
    return f"{per_second(f'{histogram}_sum', *by, **only)} / {per_second(f'{histogram}_count', *by, **only)}"


def now(metric: str, *by: str, how: str = "sum", **only: str) -> str:
    """What a gauge says now; `how` joins what several processes say."""
    return f"{how}{_by(by)} ({metric}{_only(only)})"


def top(most: int, expr: str) -> str:
    """The highest lines of many."""
    return f"topk({most}, {expr})"


def or_none(expr: str) -> str:
    """The expression, 0 where nothing was ever counted."""
    return f"{expr} or vector(0)"


def _by(labels: Sequence[str]) -> str:
    return f" by ({', '.join(labels)})" if labels else ""


def _only(matchers: dict[str, str]) -> str:
    written = [
        f'{name}=~"{value[1:]}"' if value.startswith("~") else f'{name}="{value}"' for name, value in matchers.items()
    ]
    return "{" + ",".join([*written, 'instance=~"$instance"']) + "}"
