"""Addresses that get the higher limits of submits for a day, each known to this process alone. base-domain 1.7."""

from horde.clock import Clock

_SECONDS = 24 * 3600.0

_MOST = 10_000
"""Addresses kept at once: more trusted clients than one gateway ever saw; the oldest goes first."""


class Favours:
    """Which addresses are favoured, and until when."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # The oldest first: an address that is favoured again moves to the end.
        self._until: dict[str, float] = {}

    def add(self, address: str) -> None:
        """Favours an address for a day from now."""
        self._until.pop(address, None)
        if len(self._until) >= _MOST:
            del self._until[next(iter(self._until))]
        self._until[address] = self._clock.monotonic() + _SECONDS

    def holds(self, address: str) -> bool:
        """Whether an address is favoured now."""
        return self._until.get(address, 0.0) > self._clock.monotonic()
