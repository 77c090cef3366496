"""When moderators are told of an account or an address whose jobs workers keep reporting, and in which words.

A message outlives the windows of evidence and cannot be redacted, so it carries no prompt and no address. Its names are
chosen by strangers. moderation.md A9.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Final

from services.moderation.rules.evidence import Evidence, WorkerReport
from services.moderation.rules.notices import escaped, review

HOURLY: Final = 50
DAILY: Final = 200
"""Reports that are still below notice; one more is not."""

MAX_NOTICE: Final = 2000
"""Characters; Discord drops a longer message as a whole."""

_NAMES_SHOWN: Final = 10
_NAME_CHARACTERS: Final = 60
_LIST_CHARACTERS: Final = 500
_PSEUDONYM_CHARACTERS: Final = 12
_MUTE_LABEL: Final = b"moderation:problem-job-mute:v1\x00"


@dataclass(frozen=True, slots=True)
class Counts:
    """Reports of the past hour and day, this one included."""

    account_hour: int = 0
    account_day: int = 0
    address_hour: int = 0
    address_day: int = 0


class Level(Enum):
    """What is counted, over which time, against which threshold; in the order in which they are told."""

    ACCOUNT_HOUR = ("account_hour", timedelta(hours=1), HOURLY)
    ACCOUNT_DAY = ("account_day", timedelta(days=1), DAILY)
    ADDRESS_HOUR = ("address_hour", timedelta(hours=1), HOURLY)
    ADDRESS_DAY = ("address_day", timedelta(days=1), DAILY)

    def __init__(self, counted: str, period: timedelta, threshold: int) -> None:
        self.counted = counted
        self.period = period
        """Of the count, and of the mute after an alert."""
        self.threshold = threshold

    @property
    def is_of_address(self) -> bool:
        """Whether it counts an address rather than an account."""
        return self in {Level.ADDRESS_HOUR, Level.ADDRESS_DAY}

    @property
    def word(self) -> str:
        """How the mute and the message call the period."""
        return "hour" if self.period == timedelta(hours=1) else "day"


def exceeded(counts: Counts, *, anonymous: bool, has_subject: bool) -> Iterator[Level]:
    """The levels that are exceeded. Of the anonymous account only addresses are told, and of no address its account."""
    for level in Level:
        counts_here = has_subject if level.is_of_address else not anonymous
        if counts_here and getattr(counts, level.counted) > level.threshold:
            yield level


def mute_of(level: Level, evidence: Evidence) -> str:
    """What is silenced after an alert. Holds no address and no name of an end user."""
    if level.is_of_address:
        key = evidence.subject_key or _hashed(evidence.address or "")
        return f"ip_{key}_{_adverb(level)}"
    whom = str(evidence.account_id)
    if evidence.proxied_account is not None:
        whom = f"{whom}:{_hashed(evidence.proxied_account)}"
    return f"user_{whom}_{_adverb(level)}"


def notice(
    level: Level,
    count: int,
    report: WorkerReport,
    evidence: Evidence,
    *,
    alias: str,
    event_id: int | None,
    frontpage_url: str | None,
) -> str:
    """The message, at most 2000 characters. `event_id` None: the evidence could not be written."""
    account = escaped(alias[:_NAME_CHARACTERS])
    lines = [
        _address_line(evidence, account) if level.is_of_address else account,
        f"{count} reports in the past {level.word} (threshold {level.threshold})",
        f"muted for 1 {level.word}",
        f"job {report.job_id}",
        f"worker {escaped(report.worker_name[:_NAME_CHARACTERS])} ({report.worker_id})",
    ]
    lists = [f"models {_named(report.models)}", f"LoRAs {_named(report.loras)}"]
    end = review(event_id, frontpage_url)
    whole = "\n".join([*lines, *lists, *end])
    if len(whole) <= MAX_NOTICE:
        return whole
    # Only a very long address of the frontpage leads here; who and which event matter most.
    return "\n".join([*lines, *end])[:MAX_NOTICE]


def _address_line(evidence: Evidence, account: str) -> str:
    key = evidence.subject_key
    whom = f"IP subject {key[:_PSEUDONYM_CHARACTERS]}" if key else "An unnamed IP subject"
    return f"{whom}, latest account {account}"


def _named(names: Sequence[str]) -> str:
    shown: list[str] = []
    room = _LIST_CHARACTERS
    for name in names[:_NAMES_SHOWN]:
        text = escaped(name[:_NAME_CHARACTERS])
        if len(text) > room:
            break
        room -= len(text)
        shown.append(text)
    if len(names) > len(shown):
        shown.append(f"+{len(names) - len(shown)}")
    return ", ".join(shown) or "none"


def _adverb(level: Level) -> str:
    return "hourly" if level.word == "hour" else "daily"


def _hashed(text: str) -> str:
    return hashlib.sha256(_MUTE_LABEL + text.encode()).hexdigest()
