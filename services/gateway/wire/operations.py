"""Query parameters of the operations routes: the first that is wrong is told, under its own code. moderation.md A8."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from services.gateway.wire.fields import MAX_INT32, MAX_INT64

_DIGITS = re.compile(r"[0-9]{1,19}")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class Parameters:
    """The query string. Of a repeated key the last counts, except where all do."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._pairs = pairs
        self._last = dict(pairs)

    def names(self, known: Sequence[str]) -> list[str]:
        """Which of these are there."""
        return [name for name in known if name in self._last]

    def text(self, name: str) -> str | None:
        """The value as it came; None without it."""
        return self._last.get(name)

    def all(self, name: str) -> list[str]:
        """Every value of a repeatable key."""
        return [value for key, value in self._pairs if key == name]

    def limit(self, *, default: int, most: int) -> int:
        """How many rows. Raises Refusal(InvalidOperationsLimit)."""
        found = self.whole("limit", 1, most, reasons.INVALID_OPERATIONS_LIMIT)
        return default if found is None else found

    def cursor(self) -> int | None:
        """Below which id. Raises Refusal(InvalidOperationsCursor)."""
        return self.whole("before_id", 1, MAX_INT64, reasons.INVALID_OPERATIONS_CURSOR)

    def user_id(self, name: str = "user_id") -> int | None:
        """An account's number. Raises Refusal(InvalidUserID)."""
        return self.whole(name, 0, MAX_INT32, reasons.INVALID_USER_ID)

    def whole(self, name: str, least: int, most: int, reason: Reason) -> int | None:
        """An integer written in digits. Raises the reason's Refusal."""
        text = self._last.get(name)
        if text is None:
            return None
        if _DIGITS.fullmatch(text) is None or not least <= int(text) <= most:
            raise Refusal(reason, f"'{name}' has to be a whole number from {least} to {most}.")
        return int(text)

    def worker_id(self) -> str | None:
        """A worker's UUID. Raises Refusal(InvalidWorkerID)."""
        text = self._last.get("worker_id")
        if text is None:
            return None
        try:
            return str(UUID(text))
        except ValueError:
            raise Refusal(reasons.INVALID_WORKER_ID, "'worker_id' has to be a UUID.") from None

    def flag(self, name: str) -> bool | None:
        """True or false. Raises Refusal(InvalidOperationsFilter)."""
        text = self._last.get(name)
        if text is None:
            return None
        found = _FLAGS.get(text.lower())
        if found is None:
            raise Refusal(reasons.INVALID_OPERATIONS_FILTER, f"'{name}' has to be true or false.")
        return found

    def times(self) -> tuple[datetime | None, datetime | None]:
        """`since` and `until`, in UTC. Raises Refusal(InvalidModerationTimeRange)."""
        since, until = self._moment("since"), self._moment("until")
        if since is not None and until is not None and since >= until:
            raise Refusal(reasons.INVALID_MODERATION_TIME_RANGE, "'since' has to be earlier than 'until'.")
        return since, until

    def _moment(self, name: str) -> datetime | None:
        text = self._last.get(name)
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is not None:
                return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        message = f"'{name}' has to be an ISO 8601 time with its timezone, such as 2026-01-31T12:00:00Z."
        raise Refusal(reasons.INVALID_MODERATION_TIME_RANGE, message)


def one_of(value: str, known: Mapping[str, object] | Sequence[str], name: str, reason: Reason) -> str:
    """The value when it is known. Raises the reason's Refusal."""
    if value not in known:
        raise Refusal(reason, f"'{name}' has to be one of {', '.join(known)}.")
    return value
