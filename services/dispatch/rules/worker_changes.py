"""What may be changed of a worker, and by whom. base-domain 4.12."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType

from horde.contract import limits, reasons
from horde.contract.api_keys import ANONYMOUS_ID
from horde.contract.profanity import is_profane
from horde.contract.refusal import Refusal
from services.dispatch.rules.declaration import clean
from services.dispatch.rules.viewers import Viewer
from services.dispatch.rules.worker_details import WorkerDetails
from services.dispatch.rules.workers import refuse_profane_name, refuse_rented_name


class May(Enum):
    """Who may change a field."""

    OWNER = auto()  # or a moderator
    MODERATOR = auto()


WHO_MAY: Mapping[str, May] = MappingProxyType(
    {"maintenance": May.OWNER, "info": May.OWNER, "name": May.OWNER, "paused": May.MODERATOR}
)


@dataclass(frozen=True, slots=True)
class Change:
    """The chosen values; None leaves a field as it is. `maintenance_msg` goes with `maintenance` alone."""

    maintenance: bool | None = None
    maintenance_msg: str | None = None
    paused: bool | None = None
    info: str | None = None
    name: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are chosen."""
        return tuple(field for field in WHO_MAY if getattr(self, field) is not None)


def read_change(asked: Change) -> Change:
    """The change as it will be stored, without markup.

    Raises Refusal: NulByteInPayload, ValidationFailed, TooLongWorkerName, ProfaneWorkerName, ProfaneWorkerInfo,
    BadRequest.
    """
    for field in ("maintenance_msg", "info", "name"):
        if "\0" in (getattr(asked, field) or ""):
            raise Refusal(reasons.NUL_BYTE_IN_PAYLOAD, f"'{field}' holds a NUL character, which cannot be stored.")
    message, info, name = (
        None if text is None else clean(text) for text in (asked.maintenance_msg, asked.info, asked.name)
    )
    if message is not None and len(message) > limits.MAX_MAINTENANCE_MESSAGE_LENGTH:
        raise _invalid("maintenance_msg", f"may have at most {limits.MAX_MAINTENANCE_MESSAGE_LENGTH} characters")
    if info is not None and len(info) > limits.MAX_WORKER_INFO_LENGTH:
        raise _too_long("info", limits.MAX_WORKER_INFO_LENGTH)
    if name is not None:
        if len(name) < limits.MIN_CHOSEN_WORKER_NAME_LENGTH:
            raise _invalid("name", f"needs at least {limits.MIN_CHOSEN_WORKER_NAME_LENGTH} characters")
        if len(name) > limits.MAX_WORKER_NAME_LENGTH:
            raise _too_long("name", limits.MAX_WORKER_NAME_LENGTH)
        refuse_rented_name(name)
        refuse_profane_name(name)
    if info is not None and is_profane(info):
        raise Refusal(reasons.PROFANE_WORKER_INFO, "The worker's info holds a word that is not wanted here.")
    return Change(
        maintenance=asked.maintenance,
        maintenance_msg=(message or None) if asked.maintenance else None,
        paused=asked.paused,
        info=info,
        name=name,
    )


def refuse_anonymous(viewer: Viewer) -> None:
    """Raises Refusal(AnonForbidden): nobody owns what the anonymous account has."""
    if viewer.id == ANONYMOUS_ID:
        raise Refusal(reasons.ANON_FORBIDDEN, "The anonymous account may not change workers.")


def refuse_stranger(viewer: Viewer, worker: WorkerDetails, reason: reasons.Reason = reasons.NOT_OWNER) -> None:
    """Raises Refusal(`reason`) for who is neither the owner nor a moderator; of a delete it is NotModerator."""
    if not viewer.moderator and viewer.id != worker.owner_id:
        raise Refusal(reason, "This worker belongs to another account; only its owner or a moderator may do this.")


def refuse_change(viewer: Viewer, worker: WorkerDetails, change: Change) -> None:
    """Raises Refusal: NotModerator, NotOwner, NoWorkerModSelected."""
    if any(WHO_MAY[field] is May.MODERATOR for field in change.fields) and not viewer.moderator:
        raise Refusal(reasons.NOT_MODERATOR, "Only a moderator may pause a worker or end its pause.")
    refuse_stranger(viewer, worker)
    if not change.fields:
        raise Refusal(
            reasons.NO_WORKER_MOD_SELECTED, f"Nothing to change was given: name one of {', '.join(sorted(WHO_MAY))}."
        )


def _invalid(field: str, what: str) -> Refusal:
    return Refusal(reasons.VALIDATION_FAILED, "Input payload validation failed", {"errors": {field: what}})


def _too_long(field: str, most: int) -> Refusal:
    return Refusal(reasons.TOO_LONG_WORKER_NAME, f"The worker's {field} may have at most {most} characters.")
