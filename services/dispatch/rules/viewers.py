"""Who looks at workers, changes them or tells them something."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whose key asks."""

    id: int
    alias: str
    moderator: bool
