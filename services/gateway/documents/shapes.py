"""How the shapes of bodies and answers are written down, as JSON Schema."""

from collections.abc import Mapping

from horde.contract import limits

type Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TEXTS: Schema = {"type": "array", "items": TEXT}
ANY_OBJECT: Schema = {"type": "object"}
UUID: Schema = {"type": "string", "format": "uuid"}


SECONDS_TO_WAIT: Schema = {"type": "number", "minimum": 0, "maximum": limits.MAX_WAIT_SECONDS, "default": 0}


def whole(least: int, most: int, default: int | None = None) -> Schema:
    """An integer between two bounds."""
    made: dict[str, object] = {"type": "integer", "minimum": least, "maximum": most}
    return made if default is None else {**made, "default": default}


def between(least: float, most: float) -> Schema:
    """A number between two bounds."""
    return {"type": "number", "minimum": least, "maximum": most}


def choice(*values: str) -> Schema:
    """One of a few words."""
    return {"type": "string", "enum": list(values)}


def array(items: Schema) -> Schema:
    """A list of one shape."""
    return {"type": "array", "items": items}


def maybe(schema: Schema) -> Schema:
    """A shape or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def shape(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """An object; keys that are not named are ignored."""
    made: dict[str, object] = {"type": "object", "properties": properties}
    return {**made, "required": list(required)} if required else made


def ref(name: str) -> Schema:
    """One of the shapes below, by name."""
    return {"$ref": f"#/components/schemas/{name}"}
