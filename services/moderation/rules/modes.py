"""What holds for the whole horde, and who may change it. base-domain 7.4 and 9."""

from dataclasses import dataclass

from horde.contract import reasons
from horde.contract.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Operator:
    """Who asks for something that only some may do."""

    id: int
    moderator: bool
    admin: bool


@dataclass(frozen=True, slots=True)
class Modes:
    """What holds for the whole horde now."""

    maintenance: bool
    invite_only: bool
    raid: bool


@dataclass(frozen=True, slots=True)
class ModesChange:
    """What is to be different; None: as it is."""

    maintenance: bool | None
    invite_only: bool | None
    raid: bool | None


def refuse_stranger(operator: Operator) -> None:
    """Raises Refusal(NotModerator). Administrators may do what moderators may."""
    if not (operator.moderator or operator.admin):
        raise Refusal(reasons.NOT_MODERATOR, "Only a moderator may do this.")


def refuse_change(operator: Operator, change: ModesChange) -> None:
    """Maintenance is an administrator's, the other modes a moderator's. Raises Refusal."""
    if change.maintenance is not None and not operator.admin:
        raise Refusal(reasons.NOT_ADMIN, "Only an administrator may switch the maintenance mode.")
    if change.invite_only is not None or change.raid is not None:
        refuse_stranger(operator)
    elif change.maintenance is None:
        raise Refusal(
            reasons.NO_HORDE_MOD_SELECTED,
            "Nothing to change: send maintenance_mode, invite_only_mode or raid_mode.",
        )
