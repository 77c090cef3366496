"""What became of kudos, counted and logged in one place. Names and attributes are base-domain 12's."""

from collections.abc import Collection

from horde.telemetry import logs
from horde.telemetry.metrics import Counter, Gauge
from services.admission.rules.ledger import FINDINGS, Adjustment, Findings, Holds

log = logs.get(__name__)

_UNSOUND = Gauge(
    "horde_admission_ledger_findings",
    "Accounts at which the ledger's proof found something wrong, as they were last looked at.",
    ("finding",),
)
_ACTIVE = Gauge("horde_kudos_active_reservations", "Holds that are active.")
_OLDEST = Gauge("horde_kudos_oldest_reservation_seconds", "Age of the oldest active hold; 0: there is none.")
_REJECTED = Counter("horde_kudos_reservations_rejected_total", "Holds that the account's kudos did not cover.")
_REPLAYS = Counter("horde_kudos_transfers_idempotent_replays_total", "Transfers that had happened already.")
_FORGIVEN = Counter(
    "horde_kudos_floor_adjustments_total",
    "Times that an account's floor forgave a part of what it owed.",
    ("account_class",),
)
_FORGIVEN_KUDOS = Counter("horde_kudos_floor_adjustments_kudos_total", "Kudos that floors forgave.", ("account_class",))


class MoneyEvents:
    """One method for each event of the ledger."""

    def ledger_unsound(self, account: int, findings: Findings) -> None:
        """An account disproves the ledger, seen from its first posting on."""
        for finding, (expected, found) in findings.items():
            log.error("the ledger is not sound", account=account, finding=finding, expected=expected, found=found)

    def ledger_proved(self, unsound: Collection[Findings]) -> None:
        """A run of the proof ended; `unsound` has every account that is known to be."""
        for finding in FINDINGS:
            _UNSOUND.labels(finding).set(sum(finding in findings for findings in unsound))

    def holds(self, holds: Holds) -> None:
        """The holds were counted."""
        _ACTIVE.set(holds.active)
        _OLDEST.set(holds.oldest)

    def hold_rejected(self, *, dry_run: bool = False) -> None:
        """A request needs more kudos held than there are. A dry run holds nothing, so nothing is rejected."""
        if not dry_run:
            _REJECTED.inc()

    def transfer_repeated(self) -> None:
        """A transfer came again with its retry key."""
        _REPLAYS.inc()

    def floor_adjusted(self, adjustment: Adjustment) -> None:
        """Floors forgave something."""
        _FORGIVEN.labels(adjustment.account_class).inc(adjustment.adjustments)
        _FORGIVEN_KUDOS.labels(adjustment.account_class).inc(adjustment.amount / 100)
