"""What happened, counted and logged in one place. Names and attributes are the chat reference's."""

from prometheus_client import Counter, Histogram

from horde.telemetry import logs
from horde.telemetry.metrics import LONG_SECONDS
from services.admission import durations
from services.admission.money_events import MoneyEvents
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
_TRANSFERS = Counter("horde_admission_kudos_transfers", "Transfers of kudos from one account to another.")
_MONTHS = Counter("horde_admission_monthly_kudos_paid", "Months of recurring kudos that were paid by the hourly loop.")
_TEXTS = Counter("horde_admission_texts", "Text submissions that were answered, by outcome.", ("outcome",))


class Events(MoneyEvents):
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

    def activated(self, seconds: float) -> None:
        """A request was queued, so long after its creation."""
        durations.activation_age.observe(seconds)

    def text_answered(self, outcome: str) -> None:
        """A text submission got its answer: queued or quoted."""
        _TEXTS.labels(outcome).inc()

    def answered(self, outcome: str) -> None:
        """A submission got its answer: queued, repeated or quoted."""
        _ADMITTED.labels(outcome).inc()

    def not_suspected(self, account: int, error: BaseException) -> None:
        """An account should have been suspected, and that could not be written."""
        log.warning("account not suspected", account=account, why=type(error).__name__)

    def promoted(self, account: int) -> None:
        """An account became trusted."""
        log.info("account promoted", account=account)

    def passed_over(self, account: int, error: Exception) -> None:
        """A loop failed at an account and went on with the others; the run counts as a fault all the same."""
        log.error("account passed over", account=account, why=type(error).__name__)

    def month_paid(self, account: int, amount: int) -> None:
        """An account got the kudos of a month; in hundredths."""
        _MONTHS.inc()
        log.info("monthly kudos paid", account=account, hundredths=amount)

    def account_changed(self, account: int, *, by: int, fields: list[str]) -> None:
        """Somebody changed an account."""
        log.info("account changed", account=account, by=by, fields=fields)

    def account_deleted(self, account: int, *, by: int, wiped: bool) -> None:
        """An account was marked as deleted, or wiped."""
        log.info("account deleted", account=account, by=by, wiped=wiped)

    def transferred(self, source: int, target: int, amount: int) -> None:
        """Kudos went from one account to another; in hundredths."""
        _TRANSFERS.inc()
        log.info("kudos transferred", source=source, target=target, hundredths=amount)
