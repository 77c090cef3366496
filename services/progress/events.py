"""What happened to posts, as metrics. Ids are never labels."""

from horde.telemetry.metrics import Counter
from services.progress.rules.deltas import Outcome, Renewal, Verdict

_POSTS = Counter("horde_progress_posts_total", "Posts of workers, by what became of them.", ("outcome",))
_RENEWALS = Counter(
    "horde_text_lease_renewals_total",
    "Posts that extended a lease, and posts that found it at its cap.",
    ("outcome", "worker_trusted"),
)

# Bound once: looking a label up costs a lock and a dictionary for each of thousands of posts a second.
_BY_OUTCOME = {outcome: _POSTS.labels(outcome.value) for outcome in Outcome}
_BY_RENEWAL = {
    (renewal, is_trusted): _RENEWALS.labels(renewal.value, str(is_trusted).lower())
    for renewal in (Renewal.GRANTED, Renewal.AT_CAP)
    for is_trusted in (False, True)
}


def judged(verdict: Verdict) -> None:
    """A post was judged."""
    _BY_OUTCOME[verdict.outcome].inc()
    if verdict.renewal is not Renewal.NONE:
        _BY_RENEWAL[verdict.renewal, verdict.is_trusted].inc()
