"""The refusals of a body, each with the path of what is wrong: in the message for people, as `param` for programs."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from horde.contract import reasons
from horde.contract.refusal import Refusal

_SHOWN = 100
"""Characters of a client's own value that a message repeats."""


def wrong(path: str, sentence: str) -> Refusal:
    """A value of the wrong JSON type or shape: 400 BadRequest."""
    return Refusal(reasons.BAD_REQUEST, f"{path}: {sentence}", {"param": path})


def out_of_range(path: str, sentence: str) -> Refusal:
    """A mapped parameter outside its range: 400 in the shape of a text request's validation error (decision 12)."""
    return Refusal(reasons.VALIDATION_FAILED, "Input payload validation failed", {"errors": {path: sentence}})


def unsupported(path: str, sentence: str) -> Refusal:
    """A key or value that chat requests do not take: 400 UnsupportedChatParameter."""
    return Refusal(reasons.UNSUPPORTED_CHAT_PARAMETER, f"{path}: {sentence}", {"param": path})


def unsupported_value(path: str, value: object) -> Refusal:
    """A value that is not among those taken: the message holds `path=value`."""
    sentence = f"{path}={str(value)[:_SHOWN]} is not supported on a chat request."
    return Refusal(reasons.UNSUPPORTED_CHAT_PARAMETER, sentence, {"param": path})


def conflict(path: str, sentence: str) -> Refusal:
    """Keys that contradict each other: 400 ChatRequestConflict."""
    return Refusal(reasons.CHAT_REQUEST_CONFLICT, sentence, {"param": path})


def refuse_unknown_keys(value: Mapping[str, object], known: AbstractSet[str], prefix: str) -> None:
    """Raises UnsupportedChatParameter for the first key that is not known, with its path."""
    for key in value:
        if key not in known:
            path = f"{prefix}{key[:_SHOWN]}"
            raise unsupported(path, "this key is not supported on a chat request.")


def text(value: object, path: str) -> str:
    """The value, which has to be a string."""
    if not isinstance(value, str):
        raise wrong(path, "a string is wanted.")
    return value


def mapping(value: object, path: str) -> dict[str, object]:
    """The value, which has to be an object."""
    if not isinstance(value, dict):
        raise wrong(path, "an object is wanted.")
    return value


def listing(value: object, path: str) -> list[object]:
    """The value, which has to be an array."""
    if not isinstance(value, list):
        raise wrong(path, "an array is wanted.")
    return value


def flag(value: object, path: str) -> bool:
    """The value, which has to be true or false."""
    if not isinstance(value, bool):
        raise wrong(path, "true or false is wanted.")
    return value


def integer(value: object, path: str) -> int:
    """The value, which has to be a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(path, "a whole number is wanted.")
    return value


def number(value: object, path: str) -> int | float:
    """The value, which has to be a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(path, "a number is wanted.")
    return value
