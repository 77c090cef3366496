"""OpenAI's structural rules for strict schemas: every object is closed and requires all its properties.

Chat reference, Tools; decision R20 for how a place in a schema is written.
"""

from collections.abc import Iterator
from typing import Any

from horde.contract import reasons
from horde.contract.refusal import Refusal

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS = ("prefixItems", "anyOf", "allOf", "oneOf")
_SINGLES = (
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)

type Place = tuple[str, ...]


def check_strict_schema(schema: dict[str, Any], whose: str, path: str) -> None:
    """Raises UnsupportedChatParameter with OpenAI's sentence for the first object that is open or misses a property.

    `whose` names the schema in the sentence (`function 'x'`), `path` its place in the body.
    """
    waiting: list[tuple[Place, object]] = [((), schema)]
    while waiting:
        place, current = waiting.pop()
        if not isinstance(current, dict):
            continue
        broken = _broken_rule(current)
        if broken is not None:
            sentence = f"Invalid schema for {whose}: In context={_shown(place)}, {broken}"
            raise Refusal(reasons.UNSUPPORTED_CHAT_PARAMETER, sentence, {"param": path})
        waiting.extend(reversed([(place + steps, inner) for steps, inner in _subschemas(current)]))


def _broken_rule(schema: dict[str, Any]) -> str | None:
    if not _is_object(schema):
        return None
    if schema.get("additionalProperties") is not False:
        return "'additionalProperties' is required to be supplied and to be false."
    properties = schema.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    required = schema.get("required")
    listed = required if isinstance(required, list) else []
    missing = next((name for name in names if name not in listed), None)
    if missing is not None:
        return (
            "'required' is required to be supplied and to be an array including every key in properties. "
            f"Missing '{missing}'."
        )
    return None


def _is_object(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    return (
        kind == "object" or (isinstance(kind, list) and "object" in kind) or isinstance(schema.get("properties"), dict)
    )


def _subschemas(schema: dict[str, Any]) -> Iterator[tuple[Place, object]]:
    for keyword, value in schema.items():
        if keyword in _MAPS and isinstance(value, dict):
            for name, inner in value.items():
                yield (keyword, name), inner
        elif isinstance(value, list) and (keyword in _LISTS or keyword == "items"):
            for position, inner in enumerate(value):
                yield (keyword, str(position)), inner
        elif keyword in _SINGLES:
            yield (keyword,), value


def _shown(place: Place) -> str:
    """As OpenAI prints it: a Python tuple of quoted names."""
    return repr(place)
