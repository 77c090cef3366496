"""What the handlers work with, put together in `__main__`."""

from dataclasses import dataclass

from horde.clock import Clock
from services.progress.live.leases import Leases
from services.progress.live.watching import Watching
from services.progress.neighbours import Dispatch


@dataclass(frozen=True, slots=True)
class Deps:
    """The doors of one process. `secret_key` salts the hashes of API keys."""

    clock: Clock
    leases: Leases
    watching: Watching
    dispatch: Dispatch
    secret_key: str

    def now(self) -> float:
        """Unix seconds, as leases count time."""
        return self.clock.now().timestamp()
