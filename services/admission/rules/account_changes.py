"""Who may change which field of an account: the table of base-domain 2.11, and the fields' own rules."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from enum import Enum, auto

from horde.contract import reasons
from horde.contract.profanity import is_profane
from horde.contract.refusal import Refusal
from services.admission.rules.accounts import KeyHolder, Role

MAX_USERNAME = 30
"""Characters of a name. base-domain 2.1."""

IDLE = timedelta(days=30)
"""How long an account that was marked as deleted has to rest before it may be wiped. base-domain 2.2."""


class Who(Enum):
    """Who may change a field."""

    ADMIN = auto()
    MODERATOR = auto()
    SELF_OR_MODERATOR = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What somebody wants changed; None: as it is. Kudos in hundredths, monthly kudos whole."""

    kudos: int | None = None
    monthly_kudos: int | None = None
    usage_multiplier: float | None = None
    moderator: bool | None = None
    concurrency: int | None = None
    worker_invited: int | None = None
    trusted: bool | None = None
    flagged: bool | None = None
    customizer: bool | None = None
    vpn: bool | None = None
    service: bool | None = None
    education: bool | None = None
    special: bool | None = None
    reset_suspicion: bool | None = None
    admin_comment: str | None = None
    public_workers: bool | None = None
    username: str | None = None
    contact: str | None = None
    generate_proxy_passkey: bool | None = None
    undelete: bool | None = None


WHO: dict[str, Who] = {
    **dict.fromkeys(("kudos", "monthly_kudos", "usage_multiplier", "moderator"), Who.ADMIN),
    **dict.fromkeys(
        (
            "concurrency",
            "worker_invited",
            "trusted",
            "flagged",
            "customizer",
            "vpn",
            "service",
            "education",
            "special",
            "reset_suspicion",
            "admin_comment",
        ),
        Who.MODERATOR,
    ),
    **dict.fromkeys(
        ("public_workers", "username", "contact", "generate_proxy_passkey", "undelete"), Who.SELF_OR_MODERATOR
    ),
}

ROLES: dict[str, Role] = {
    "moderator": Role.MODERATOR,
    "trusted": Role.TRUSTED,
    "flagged": Role.FLAGGED,
    "customizer": Role.CUSTOMIZER,
    "vpn": Role.VPN,
    "service": Role.SERVICE,
    "education": Role.EDUCATION,
    "special": Role.SPECIAL,
}

_ONLY_WHEN_TRUE = frozenset({"reset_suspicion", "generate_proxy_passkey", "undelete"})
"""Fields that ask for something to be done: false asks for nothing."""


def asked(change: Change) -> dict[str, object]:
    """The fields that ask for something."""
    given = {field.name: getattr(change, field.name) for field in fields(change)}
    return {
        name: value for name, value in given.items() if value is not None and (value or name not in _ONLY_WHEN_TRUE)
    }


def permit(change: Change, caller: KeyHolder, account_id: int, *, is_deleted: bool) -> dict[str, object]:
    """The fields to be changed; one that is not allowed refuses them all.

    Raises Refusal: NotAdmin, NotModerator, NotPrivileged, NonServiceForbidden, UserNotDeleted, TooLongUserName,
    ProfaneUserName, ProfaneUserContact, ProfaneAdminComment, NoUserModSelected.
    """
    wanted = asked(change)
    for name in wanted:
        _permit_field(name, caller, is_self=caller.id == account_id and caller.sharedkey_id is None)
    if change.undelete and not is_deleted:
        raise Refusal(reasons.USER_NOT_DELETED, "This account is not marked for deletion.")
    _check_texts(change)
    if not wanted:
        raise Refusal(reasons.NO_USER_MOD_SELECTED, "Nothing was selected to be changed.")
    return wanted


def _permit_field(name: str, caller: KeyHolder, *, is_self: bool) -> None:
    who = WHO[name]
    if who is Who.ADMIN and not caller.admin:
        raise Refusal(reasons.NOT_ADMIN, f"Only an administrator may change '{name}'.")
    if who is Who.MODERATOR and not caller.moderates:
        raise Refusal(reasons.NOT_MODERATOR, f"Only a moderator may change '{name}'.")
    if who is Who.SELF_OR_MODERATOR and not (is_self or caller.moderates):
        raise Refusal(reasons.NOT_PRIVILEGED, f"Only the account's holder or a moderator may change '{name}'.")
    if name == "generate_proxy_passkey" and not caller.service:
        raise Refusal(reasons.NON_SERVICE_FORBIDDEN, "Only a service account may have a proxy passkey.")


def _check_texts(change: Change) -> None:
    if change.username is not None:
        if len(change.username) > MAX_USERNAME:
            raise Refusal(reasons.TOO_LONG_USER_NAME, f"A name has at most {MAX_USERNAME} characters.")
        if is_profane(change.username):
            raise Refusal(reasons.PROFANE_USER_NAME, "This name cannot be used.")
    if change.contact is not None and is_profane(change.contact):
        raise Refusal(reasons.PROFANE_USER_CONTACT, "These contact details cannot be used.")
    if change.admin_comment is not None and is_profane(change.admin_comment):
        raise Refusal(reasons.PROFANE_ADMIN_COMMENT, "This comment cannot be used.")


def permit_deletion(
    caller: KeyHolder, account_id: int, *, is_moderator: bool, is_deleted: bool, last_active: datetime, now: datetime
) -> bool:
    """Whether the account is to be wiped; else it is only marked.

    Raises Refusal: NotUserOrMod, CannotDeleteMod, CannotWipeActiveUser.
    """
    is_self = caller.id == account_id and caller.sharedkey_id is None
    if not (is_self or caller.moderates):
        raise Refusal(reasons.NOT_USER_OR_MOD, "Only the account's holder or a moderator may delete it.")
    if is_moderator:
        raise Refusal(reasons.CANNOT_DELETE_MOD, "A moderator's account cannot be deleted.")
    if is_deleted and last_active > now - IDLE:
        raise Refusal(reasons.CANNOT_WIPE_ACTIVE_USER, f"This account was active within the last {IDLE.days} days.")
    return is_deleted
