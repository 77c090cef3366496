"""SetModes: an administrator or a moderator switches what holds for the whole horde."""

from services.moderation import looking, repo
from services.moderation.deps import Deps
from services.moderation.rules.modes import ModesChange, refuse_change


async def set_modes(api_key: str, change: ModesChange, deps: Deps) -> None:
    """Raises Refusal as the proto says; then no mode was switched. Dispatch cancels what waits on maintenance."""
    operator = await looking.operator_of(api_key, deps)
    refuse_change(operator, change)
    await repo.set_modes(deps.store, change)
    deps.events.decided(
        "modes switched",
        operator.id,
        maintenance=change.maintenance,
        invite_only=change.invite_only,
        raid=change.raid,
    )
    await deps.modes.refresh()
