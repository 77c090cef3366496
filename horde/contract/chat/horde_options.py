"""The `horde` object of a chat request."""

from uuid import UUID

from horde.contract import limits
from horde.contract.chat import saying
from horde.contract.chat.request import HordeOptions

_FLAGS = ("trusted_workers", "validated_backends", "slow_workers", "openai_guards", "include_reasoning", "dry_run")
_CHOICES = {
    "context_fit": ("grow", "reject", "truncate_oldest"),
    "conformance": ("strict", "best_effort"),
    "availability_mode": ("wait", "fail_fast"),
}
_KEYS = frozenset({*_FLAGS, *_CHOICES, "only", "ignore", "max_context_length", "max_kudos", "operation_key"})

_MOST_KUDOS = 10**15
"""A cap that no estimate reaches, and that every store holds."""


def parse_horde_options(value: object) -> HordeOptions:
    """The options of `horde`; absent or null means the defaults. Raises Refusal with the path."""
    if value is None:
        return HordeOptions()
    sent = saying.mapping(value, "horde")
    saying.refuse_unknown_keys(sent, _KEYS, "horde.")
    read: dict[str, object] = {}
    for key in _FLAGS:
        if key in sent:
            read[key] = saying.flag(sent[key], f"horde.{key}")
    for key, choices in _CHOICES.items():
        if key in sent:
            read[key] = _choice(sent[key], choices, f"horde.{key}")
    for key in ("only", "ignore"):
        if sent.get(key) is not None:
            read[key] = _worker_ids(sent[key], f"horde.{key}")
    if len({"only", "ignore"} & read.keys()) > 1:
        raise saying.conflict("horde.ignore", "'horde.only' and 'horde.ignore' cannot be combined.")
    for key in ("max_context_length", "max_kudos"):
        if sent.get(key) is not None:
            read[key] = _positive(sent[key], f"horde.{key}")
    if sent.get("operation_key") is not None:
        read["operation_key"] = _uuid(sent["operation_key"])
    return HordeOptions(**read)  # type: ignore[arg-type] # each value was checked for its key above


def _choice(value: object, choices: tuple[str, ...], path: str) -> str:
    if not isinstance(value, str) or value not in choices:
        raise saying.wrong(path, f"one of {', '.join(choices)} is wanted.")
    return value


def _worker_ids(value: object, path: str) -> tuple[str, ...]:
    ids = saying.listing(value, path)
    if not 1 <= len(ids) <= limits.MAX_WORKER_LIST:
        raise saying.wrong(path, f"1 to {limits.MAX_WORKER_LIST} worker ids are wanted.")
    return tuple(saying.text(each, f"{path}[{position}]") for position, each in enumerate(ids))


def _positive(value: object, path: str) -> int:
    number = saying.integer(value, path)
    if number < 1:
        raise saying.wrong(path, "a positive whole number is wanted.")
    if path == "horde.max_kudos":
        return min(number, _MOST_KUDOS)
    if not limits.MIN_CONTEXT_LENGTH <= number <= limits.MAX_CONTEXT_LENGTH:
        raise saying.out_of_range(
            path, f"{number} is not in {limits.MIN_CONTEXT_LENGTH} to {limits.MAX_CONTEXT_LENGTH}."
        )
    return number


def _uuid(value: object) -> UUID:
    try:
        return UUID(saying.text(value, "horde.operation_key"))
    except ValueError:
        raise saying.wrong("horde.operation_key", "a UUID is wanted.") from None
