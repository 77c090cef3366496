"""One line for each change of state, so that hours of the same trouble are one line."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime


class Journal:
    """Says what changed. Never says what a prompt or a reply holds."""

    def __init__(self, write: Callable[[str], object] = sys.stderr.write) -> None:
        self._write = write
        self._states: dict[str, str] = {}

    def say(self, sentence: str) -> None:
        """One line, always."""
        self._write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {sentence}\n")

    def turn(self, subject: str, sentence: str) -> None:
        """One line when `subject` was last said to be something else."""
        if self._states.get(subject) != sentence:
            self._states[subject] = sentence
            self.say(f"{subject}: {sentence}")
