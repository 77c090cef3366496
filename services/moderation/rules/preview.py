"""What a pass would change, by step."""

from collections.abc import Sequence
from dataclasses import dataclass

from horde.contract.retention import RetentionPolicy


@dataclass(frozen=True, slots=True)
class StepPreview:
    """One step: rows due now and soon that nothing holds, rows due now that are held, rows that need the store."""

    step: str
    due_now: int
    due_in_7_days: int
    due_in_30_days: int
    held_by_note: int
    held_by_account_status: int
    waiting_on_store: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would happen, and under which policy."""

    steps: Sequence[StepPreview]
    policy: RetentionPolicy
