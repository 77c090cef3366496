"""Entries of the OpenAPI document, and the document made of them."""

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from horde.contract import reasons
from horde.contract.reasons import Reason
from services.gateway.deps import VERSION
from services.gateway.documents.example_bodies import BODIES
from services.gateway.documents.front import FRONT_PATHS, example_of
from services.gateway.documents.schemas import SCHEMAS, Schema, ref
from services.gateway.endpoints import Operation
from services.gateway.render import status_of


class Key(Enum):
    """Whether an address wants an API key."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


def described(
    summary: str,
    *,
    answers: Mapping[int, Schema],
    body: str | None = None,
    key: Key = Key.NONE,
    query: Mapping[str, Schema] | None = None,
    refuses: Iterable[Reason] = (),
) -> Mapping[str, object]:
    """One entry: what it is for, what it takes, what it answers, and which refusals are to be expected."""
    refusals = list(refuses)
    if body is not None:
        refusals += [reasons.BAD_REQUEST, reasons.REQUEST_TOO_LARGE]
    if key is not Key.NONE:
        refusals += [reasons.VALIDATION_FAILED, reasons.INVALID_API_KEY]
    entry: dict[str, Any] = {
        "summary": summary,
        "parameters": [{"name": name, "in": "query", "schema": schema} for name, schema in (query or {}).items()],
        "responses": {
            **{str(status): _answer("Done.", schema) for status, schema in answers.items()},
            **_errors([*refusals, reasons.RATE_LIMIT_EXCEEDED]),
            "500": _answer("A bug of ours.", ref("Error")),
            "503": _answer("A part of the horde is away; try again.", ref("Error")),
        },
    }
    if body is not None:
        entry["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": ref(body), "example": BODIES[body]}},
        }
    if key is not Key.NONE:
        entry["security"] = [{"apikey": []}] if key is Key.REQUIRED else [{}, {"apikey": []}]
    return entry


def document(operations: Iterable[Operation]) -> Mapping[str, object]:
    """The OpenAPI document of these operations."""
    paths: dict[str, dict[str, Mapping[str, object]]] = {}
    for operation in operations:
        if operation.document:
            path = operation.path.replace(":path}", "}")
            entry = {**operation.document, "tags": [_tag(path)]}
            entry["parameters"] = [*_path_parameters(path), *_parameters(operation)]
            paths.setdefault(f"/api{path}", {})[operation.method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "chat-horde",
            "version": VERSION,
            "description": "Every address under `/api` is also served without it. Errors are JSON with `message` "
            "and, where there is one, `rc`. A header `X-Fields: name,details{first}` asks for a part of an answer.",
            "license": {"name": "AGPL-3.0-or-later", "identifier": "AGPL-3.0-or-later"},
        },
        "paths": {path: _named(path, entries) for path, entries in {**paths, **FRONT_PATHS}.items()},
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {
                "apikey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "apikey",
                    "description": "`0000000000` is everybody's key.",
                },
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The same key, as OpenAI's clients send it.",
                },
            },
        },
    }


def _named(path: str, entries: Mapping[str, Mapping[str, object]]) -> Mapping[str, object]:
    """The entries of an address, each with the name that makers of clients give its function: `get_users_user_id`."""
    words = "_".join(re.findall(r"\w+", path.removeprefix("/api").removeprefix("/v2")))
    return {method: {"operationId": f"{method}_{words}", **entry} for method, entry in entries.items()}


def _parameters(operation: Operation) -> list[object]:
    given = operation.document.get("parameters")
    return list(given) if isinstance(given, list) else []


def _path_parameters(path: str) -> list[object]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


_TAGS = (
    *((f"/generate/text/{action}", "workers") for action in ("pop", "progress", "submit")),
    ("/workers", "workers"),
    ("/generate/", "requests"),
    *((f"/v2/{part}", "accounts") for part in ("users", "find_user", "sharedkeys", "kudos", "dev")),
    ("/operations/", "operations"),
    ("/operations/", "moderation"),
    ("/filters", "moderation"),
)


def _tag(path: str) -> str:
    return next(
        (tag for part, tag in _TAGS if part in path),
        "status",
    )


def _errors(refusals: Iterable[Reason]) -> Mapping[str, object]:
    words: dict[int, list[str]] = {}
    for reason in refusals:
        of_status = words.setdefault(status_of(reason), [])
        if reason.word not in of_status:
            of_status.append(reason.word)
    return {str(status): _answer(", ".join(told), ref("Error")) for status, told in sorted(words.items())}


def _answer(description: str, schema: Schema) -> Mapping[str, object]:
    return {"description": description, "content": {"application/json": {"schema": schema, **example_of(schema)}}}
