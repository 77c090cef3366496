"""Filters as moderators write them, and which of their changes are refused. base-domain 8.1 and 8.5."""

from dataclasses import dataclass

from horde.contract import reasons
from horde.contract.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter, and who wrote it; None when that account is gone."""

    id: int
    regex: str
    kind: int
    description: str | None
    replacement: str
    user: str | None


@dataclass(frozen=True, slots=True)
class FilterDraft:
    """A filter that is to be."""

    regex: str
    kind: int
    description: str | None
    replacement: str


@dataclass(frozen=True, slots=True)
class FilterChange:
    """What is to be different; None: as it is."""

    regex: str | None
    kind: int | None
    description: str | None
    replacement: str | None


def filter_id(text: str) -> int:
    """A filter's id as it stands in a path. Raises Refusal(FilterNotFound) for what can be none."""
    # A column of 32 bits; `isdecimal` alone also takes digits of other scripts, which nobody's link holds.
    if text.isascii() and text.isdecimal() and len(text) <= len(str(2**31)) and int(text) < 2**31:
        return int(text)
    raise not_found(text)


def not_found(wanted: object) -> Refusal:
    """The refusal for a filter that does not exist."""
    return Refusal(reasons.FILTER_NOT_FOUND, f"There is no filter with the id '{str(wanted)[:50]}'.")


def refuse_empty(change: FilterChange) -> None:
    """Raises Refusal(NoFilterModSelected) when nothing is to be different."""
    if change == FilterChange(None, None, None, None):
        raise Refusal(
            reasons.NO_FILTER_MOD_SELECTED,
            "Nothing to change: send regex, filter_type, description or replacement, not empty.",
        )


def taken() -> Refusal:
    """The refusal when another filter has the same pattern and type."""
    return Refusal(reasons.BAD_REQUEST, "Another filter has this regex and this type: change or delete that one.")


def uncompilable(why: str) -> Refusal:
    """The refusal of a pattern that would be of no use."""
    return Refusal(reasons.BAD_REQUEST, f"The regex cannot be compiled: {why}.")
