"""What retention ought to do, said once more in Python: of accounts, events and lines, and of nothing in a database."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from horde.contract.retention import RetentionPolicy
from services.moderation.rules.fates import Step

SUSPICIOUS_FROM = 5
TEXT = ("submitted_prompt", "moderation_prompt", "effective_prompt", "text_sha256", "text_chars")
ADDRESS = ("ipaddr", "origin_text")
IDENTITY = ("user_id", "proxied_account", "request_id", "job_id", "ip_subject_key")
KEPT = ("id", "reason", "outcome", "models", "worker_id", "text_truncated")
FLAGS = {Step.TEXT: "text_redacted", Step.ADDRESS: "ipaddr_redacted", Step.CEILING: "anonymized"}

POLICIES = [
    RetentionPolicy(text_days=3, ipaddr_days=5, ceiling_days=9, worker_suspicion_days=4, access_log_days=6),
    RetentionPolicy(text_days=None, ipaddr_days=2, ceiling_days=6, worker_suspicion_days=None, access_log_days=1),
    RetentionPolicy(text_days=1, ipaddr_days=None, ceiling_days=8, worker_suspicion_days=1, access_log_days=9),
    RetentionPolicy(text_days=None, ipaddr_days=None, ceiling_days=4, worker_suspicion_days=2, access_log_days=3),
    RetentionPolicy(text_days=5, ipaddr_days=5, ceiling_days=5, worker_suspicion_days=8, access_log_days=5),
]
"""Every kind: each window set, none, and as long as the ceiling; the history kept for good, the log short and long."""


@dataclass
class Standing:
    """What an account is to moderation."""

    flagged: bool = False
    trusted: bool = False
    suspicions: int = 0
    anonymous: bool = False

    @property
    def restricted(self) -> bool:
        return not self.anonymous and (self.flagged or (self.suspicions >= SUSPICIOUS_FROM and not self.trusted))


@dataclass
class Captured:
    """An event as it was captured, and what happened to it since."""

    row: dict[str, Any]
    body: bytes | None
    """Its object's bytes; None without a text."""
    age: int = 0
    noted: bool = False
    marked: bool = False
    done: set[Step] = field(default_factory=set)


@dataclass(eq=False)
class Line:
    """A problem job, a line of the history of suspicions or of the access log."""

    step: Step
    account: int
    age: int = 0
    has_address: bool = False


@dataclass
class Model:
    """Everything there is."""

    policy: RetentionPolicy
    accounts: dict[int, Standing]
    events: dict[int, Captured] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    def window(self, step: Step) -> int | None:
        match step:
            case Step.CEILING | Step.PROBLEM_JOBS:
                return self.policy.ceiling_days
            case Step.TEXT:
                return self.policy.text_days
            case Step.ADDRESS | Step.PROBLEM_JOB_ADDRESSES:
                return self.policy.ipaddr_days
            case Step.SUSPICIONS:
                return self.policy.worker_suspicion_days
            case Step.ACCESS_LOG:
                return self.policy.access_log_days

    def hold(self, event: Captured) -> str | None:
        """As the listing tells it."""
        if event.noted:
            return "note"
        is_somebodys = Step.CEILING not in event.done
        return "account_status" if is_somebodys and self.accounts[event.row["user_id"]].restricted else None

    def is_past(self, step: Step, age: int) -> bool:
        window = self.window(step)
        return window is not None and age >= window

    def due(self, step: Step) -> list[Captured]:
        """The events that the next pass does this step to; the ceiling does all three."""
        return [
            event
            for event in self.events.values()
            if step not in event.done and self.is_past(step, event.age) and self.hold(event) is None
        ]

    def due_lines(self, step: Step) -> list[Line]:
        kind = Step.PROBLEM_JOBS if step is Step.PROBLEM_JOB_ADDRESSES else step
        found = [line for line in self.lines if line.step is kind and self.is_past(step, line.age)]
        if step is not Step.ACCESS_LOG:
            found = [line for line in found if not self.accounts[line.account].restricted]
        return [line for line in found if line.has_address or step is not Step.PROBLEM_JOB_ADDRESSES]

    def days_late(self) -> dict[Step, int]:
        """How far the oldest value of each step is past its window."""
        return {step: max((age - (self.window(step) or 0) for age in self._ages(step)), default=0) for step in Step}

    def preview(self) -> dict[str, tuple[int, int, int]]:
        """Of each step with a window: what is due, and what is past it and held, by a note and by an account."""
        told = {}
        for step in Step:
            if self.window(step) is None:
                continue
            past = [e for e in self.events.values() if step not in e.done and self.is_past(step, e.age)]
            holds = [self.hold(event) for event in past] if step in FLAGS else self._line_holds(step)
            told[step.value] = (holds.count(None), holds.count("note"), holds.count("account_status"))
        return told

    def violations(self) -> dict[str, int]:
        """What outlived its window, as the proof counts it."""
        free = [event for event in self.events.values() if self.hold(event) is None]
        late = {
            step: [event for event in free if self.is_past(step, event.age) or self.is_past(Step.CEILING, event.age)]
            for step in FLAGS
        }
        texts = [e for e in late[Step.TEXT] if e.body is not None and not e.done & {Step.TEXT, Step.CEILING}]
        addresses = [e for e in late[Step.ADDRESS] if not e.done & {Step.ADDRESS, Step.CEILING}]
        people = [event for event in late[Step.CEILING] if Step.CEILING not in event.done]
        return {
            "text": len(texts),
            "address": sum(_has(event, ADDRESS) for event in addresses),
            "identity": sum(_has(event, IDENTITY) for event in people),
            "mark": sum(event.marked for event in late[Step.CEILING]),
            "problem_job": len(self.due_lines(Step.PROBLEM_JOBS)),
            "problem_job_address": len(self._lines_with_late_address()),
            "worker_suspicion": len(self.due_lines(Step.SUSPICIONS)),
            "access_log": len(self.due_lines(Step.ACCESS_LOG)),
        }

    def a_pass(self, *, kept_by_store: Collection[int] = ()) -> None:
        """What every step leaves behind when the store keeps those objects. An anonymized event has no account."""
        for event in self._deletable(Step.CEILING, kept_by_store):
            event.done |= set(FLAGS)
            event.marked = False
        for event in self._deletable(Step.TEXT, kept_by_store):
            event.done.add(Step.TEXT)
        for event in self.due(Step.ADDRESS):
            event.done.add(Step.ADDRESS)
        for line in self.due_lines(Step.PROBLEM_JOBS):
            self.lines.remove(line)
        for line in self.due_lines(Step.PROBLEM_JOB_ADDRESSES):
            line.has_address = False
        for step in (Step.SUSPICIONS, Step.ACCESS_LOG):
            for line in self.due_lines(step):
                self.lines.remove(line)

    def _deletable(self, step: Step, kept_by_store: Collection[int]) -> list[Captured]:
        return [event for event in self.due(step) if event.row["id"] not in kept_by_store]

    def _ages(self, step: Step) -> Iterator[int]:
        found: Iterable[Captured | Line] = self.due(step) if step in FLAGS else self.due_lines(step)
        return (one.age for one in found)

    def _lines_with_late_address(self) -> list[Line]:
        jobs = [line for line in self.lines if line.step is Step.PROBLEM_JOBS and line.has_address]
        late = [j for j in jobs if self.is_past(Step.ADDRESS, j.age) or self.is_past(Step.CEILING, j.age)]
        return [job for job in late if not self.accounts[job.account].restricted]

    def _line_holds(self, step: Step) -> list[str | None]:
        kind = Step.PROBLEM_JOBS if step is Step.PROBLEM_JOB_ADDRESSES else step
        past = [line for line in self.lines if line.step is kind and self.is_past(step, line.age)]
        past = [line for line in past if line.has_address or step is not Step.PROBLEM_JOB_ADDRESSES]
        if step is Step.ACCESS_LOG:
            return [None] * len(past)
        return ["account_status" if self.accounts[line.account].restricted else None for line in past]


def _has(event: Captured, columns: Iterable[str]) -> bool:
    return any(event.row[column] is not None for column in columns)
