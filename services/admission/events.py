"""What happened, counted and logged in one place. Names and attributes are the chat reference's."""

from prometheus_client import Counter, Histogram

from horde.telemetry import logs
from horde.telemetry.metrics import LONG_SECONDS
from services.admission.rules.pricing import Allowance, bucket
from services.admission.rules.sizing import Sized
from services.admission.rules.text_fit import Fitted

log = logs.get(__name__)

_DECISIONS = Counter(
    "horde_text_free_allowance_decisions",
    "Request creations by how their output allowance decided.",
    ("requester", "outcome", "requested_bucket", "allowance_bucket", "chat"),
)
_WAITS = Histogram(
    "horde_text_free_allowance_estimated_wait_seconds",
    "The wait an allowance was sized by.",
    ("chat", "requester"),
    buckets=LONG_SECONDS,
)
_FITS = Counter(
    "horde_text_context_fit",
    "How prompts fitted their context.",
    ("context_fit_mode", "context_fit_outcome"),
)
_LOWERED = Counter(
    "horde_chat_max_length_lowered",
    "Requests whose max_length was lowered to what workers declare.",
    ("requested_bucket", "declared_bucket", "dry_run"),
)
_ADMITTED = Counter("horde_admission_chats", "Chat submissions that were answered, by outcome.", ("outcome",))
_TEXTS = Counter("horde_admission_texts", "Text submissions that were answered, by outcome.", ("outcome",))


class Events:
    """One method for each business event."""

    def lowered(self, *, requested: int, declared: int, dry_run: bool) -> None:
        """A request asked for more tokens than any serving worker generates."""
        _LOWERED.labels(bucket(requested), bucket(declared), str(dry_run).lower()).inc()

    def fitted(self, sized: Sized, *, mode: str) -> None:
        """A prompt got its context. `mode` is the client's."""
        _FITS.labels(mode if sized.outcome == "truncated" else sized.mode, sized.outcome).inc()

    def text_fitted(self, fitted: Fitted) -> None:
        """A text prompt got its context, or goes out longer than it."""
        _FITS.labels(fitted.mode, fitted.outcome).inc()

    def did_not_fit(self, *, mode: str) -> None:
        """A prompt fits no context that can be had."""
        _FITS.labels(mode, "refused").inc()

    def decided(self, outcome: str, *, requester: str, requested: int, allowance: Allowance, chat: bool = True) -> None:
        """A request was admitted free or funded, or refused for its kudos."""
        _DECISIONS.labels(requester, outcome, bucket(requested), bucket(allowance.tokens), str(chat).lower()).inc()
        if allowance.wait is not None:
            _WAITS.labels(str(chat).lower(), requester).observe(allowance.wait)

    def text_answered(self, outcome: str) -> None:
        """A text submission got its answer: queued or quoted."""
        _TEXTS.labels(outcome).inc()

    def answered(self, outcome: str) -> None:
        """A submission got its answer: queued, repeated or quoted."""
        _ADMITTED.labels(outcome).inc()

    def promoted(self, account: int) -> None:
        """An account became trusted."""
        log.info("account promoted", account=account)
