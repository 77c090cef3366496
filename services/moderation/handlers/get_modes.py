"""GetModes: what holds for the whole horde now."""

from services.moderation.deps import Deps
from services.moderation.rules.modes import Modes


async def get_modes(deps: Deps) -> Modes:
    """The modes, at most a second old. Raises StoreUnavailable."""
    return await deps.modes.get()
