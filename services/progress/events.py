"""What happened to posts, as metrics. Ids are never labels."""

from horde.telemetry.metrics import Counter
from services.progress.rules.deltas import Renewal, Verdict

_POSTS = Counter("horde_progress_posts_total", "Posts of workers, by what became of them.", ("outcome",))
_RENEWALS = Counter(
    "horde_text_lease_renewals_total",
    "Posts that extended a lease, and posts that found it at its cap.",
    ("outcome", "worker_trusted"),
)


def judged(verdict: Verdict) -> None:
    """A post was judged."""
    _POSTS.labels(verdict.outcome.value).inc()
    if verdict.renewal is not Renewal.NONE:
        _RENEWALS.labels(verdict.renewal.value, str(verdict.is_trusted).lower()).inc()
