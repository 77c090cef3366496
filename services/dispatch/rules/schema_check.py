"""Whether a reply's content is the JSON its request asked for. Pure, but not bounded: it runs inside the jail.

Sources: chat reference, Reply verification; decision 25. No reference is fetched, and formats are not asserted, as in
the library that the reference names.
"""

import json
from enum import StrEnum
from typing import NoReturn

import jsonschema_rs

_REFUSALS = (ValueError, TypeError, RecursionError, jsonschema_rs.ReferencingError)
"""How the library says that it cannot work with a schema or a value."""


class Verdict(StrEnum):
    """What came of a check."""

    OK = "ok"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    MISMATCH = "mismatch"
    UNCOMPILABLE = "uncompilable"


_DRAFTS = {
    "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
    "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
}

_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
"""Look-around is allowed, as in ECMA 262; a pattern that backtracks further than this does not match."""


def is_object(content: str) -> Verdict:
    """Whether the content is a JSON object, as Python's json reads it, NaN and Infinity refused."""
    verdict, value = _parsed(content)
    if verdict is not Verdict.OK:
        return verdict
    return Verdict.OK if isinstance(value, dict) else Verdict.NOT_AN_OBJECT


def matches(content: str, schema: object) -> Verdict:
    """Whether the content is JSON that the schema accepts, by the draft its `$schema` names and 2020-12 otherwise."""
    verdict, value = _parsed(content)
    if verdict is not Verdict.OK:
        return verdict
    if not isinstance(schema, dict | bool):
        return Verdict.UNCOMPILABLE
    draft = None
    if isinstance(schema, dict) and "$schema" in schema:
        declared = schema["$schema"]
        draft = _DRAFTS.get(declared.rstrip("#")) if isinstance(declared, str) else None
        if draft is None:
            schema = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        made = (draft or jsonschema_rs.Draft202012Validator)(
            schema, validate_formats=False, offline=True, pattern_options=_PATTERNS
        )
    except _REFUSALS:
        return Verdict.UNCOMPILABLE
    try:
        return Verdict.OK if made.is_valid(value) else Verdict.MISMATCH
    except _REFUSALS:
        # a value the validator cannot hold, half a surrogate pair for one, cannot be shown to match
        return Verdict.MISMATCH


def _parsed(content: str) -> tuple[Verdict, object]:
    try:
        return Verdict.OK, json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return Verdict.NOT_JSON, None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
