"""The OpenAI front in the document: addresses, shapes, errors. clients-and-front, part 3."""

from collections.abc import Mapping

from services.gateway.documents.chat_request import CHAT_REQUEST
from services.gateway.documents.example_answers import ANSWERS
from services.gateway.documents.example_bodies import BODIES
from services.gateway.documents.shapes import (
    ANY_OBJECT,
    FLAG,
    NUMBER,
    TEXT,
    TEXTS,
    UUID,
    WHOLE,
    Schema,
    array,
    choice,
    maybe,
    ref,
    shape,
    whole,
)

_SHARED = ("model", "models", "tools", "tool_choice", "parallel_tool_calls", "response_format", "reasoning_effort")
_ERRORS = {
    400: "The request cannot be served as it is; `code` and `param` say why.",
    401: "No key, or a wrong one: `invalid_api_key`.",
    402: "`insufficient_kudos`.",
    403: "`forbidden`.",
    404: "`model_not_found`, or no worker offers what the request needs: `no_eligible_worker`.",
    413: "`request_too_large`.",
    429: "`rate_limit_exceeded`; try again.",
    500: "`internal_error`: a bug of ours.",
    502: "The request was accepted and failed: `generation_failed`, `request_expired`.",
    503: "`no_eligible_worker`, `queue_too_long`, or a part of the horde is away: `service_unavailable`.",
    504: "`request_timeout`.",
}


def _shared(name: str) -> Schema:
    properties = CHAT_REQUEST["ChatRequest"]["properties"]
    if not isinstance(properties, dict):
        raise TypeError("the shape of a chat request has no properties")
    told: Schema = properties[name]
    return told


FRONT: Mapping[str, Schema] = {
    "CompletionRequest": shape(
        ("model", "messages"),
        **{name: _shared(name) for name in _SHARED},
        messages={**array(ANY_OBJECT), "minItems": 1, "description": "As OpenAI's, replayed replies included."},
        max_tokens=whole(16, 16_384),
        max_completion_tokens=whole(16, 16_384),
        temperature={**NUMBER, "minimum": 0, "maximum": 2},
        top_p={**NUMBER, "minimum": 0, "maximum": 1},
        frequency_penalty={**NUMBER, "minimum": -2, "maximum": 2},
        presence_penalty={**NUMBER, "minimum": -2, "maximum": 2},
        seed=WHOLE,
        stop={"anyOf": [TEXT, {**TEXTS, "maxItems": 4}]},
        n={"const": 1},
        stream=FLAG,
        stream_options=shape(include_usage=FLAG, include_obfuscation=FLAG),
        horde=ref("ChatOptions"),
        include_reasoning=FLAG,
    ),
    "Completion": shape(
        ("id", "object", "created", "model", "choices", "usage"),
        id=TEXT,
        object={"const": "chat.completion"},
        created=WHOLE,
        model=TEXT,
        system_fingerprint=TEXT,
        choices=array(
            shape(
                ("index", "message", "finish_reason"),
                index=WHOLE,
                message=ANY_OBJECT,
                logprobs={"type": "null"},
                finish_reason=choice("stop", "length", "tool_calls", "content_filter"),
            )
        ),
        usage=shape(
            ("prompt_tokens", "completion_tokens", "total_tokens"),
            prompt_tokens=WHOLE,
            completion_tokens=WHOLE,
            total_tokens=WHOLE,
        ),
        horde=shape(request_id=UUID, kudos=NUMBER, worker=ANY_OBJECT, charge_basis=maybe(TEXT)),
    ),
    "ModelCard": shape(
        ("id", "object", "created", "owned_by"),
        id=TEXT,
        object={"const": "model"},
        created=WHOLE,
        owned_by=TEXT,
        context_length=WHOLE,
        max_model_len=WHOLE,
        max_completion_tokens=WHOLE,
        horde=ANY_OBJECT,
    ),
    "ModelCards": shape(("object", "data"), object={"const": "list"}, data=array(ref("ModelCard"))),
    "CompletionError": shape(
        ("error",),
        error=shape(
            ("message", "type", "param", "code"),
            message=TEXT,
            type=TEXT,
            param=maybe(TEXT),
            code=maybe(TEXT),
            rc=TEXT,
            impossible_reason=ANY_OBJECT,
            request_id=TEXT,
        ),
    ),
    "Living": shape(("status",), status=TEXT),
}
"""By name, as the document's components have them."""


def example_of(schema: Schema) -> Mapping[str, object]:
    """What an answer of a shape, or of a list of it, looks like; nothing when the shape has no name."""
    items = schema.get("items")
    listed = isinstance(items, Mapping)
    name = str((items if isinstance(items, Mapping) else schema).get("$ref", "")).rpartition("/")[2]
    if name not in ANSWERS:
        return {}
    return {"example": [ANSWERS[name]] if listed else ANSWERS[name]}


def _json(schema: Schema, example: object = None) -> Mapping[str, object]:
    shown = example_of(schema) if example is None else {"example": example}
    return {"application/json": {"schema": schema, **shown}}


def _entry(
    summary: str, answer: Mapping[str, object], *errors: int, key: bool = True, **more: object
) -> Mapping[str, object]:
    told = {
        str(status): {"description": _ERRORS[status], "content": _json(ref("CompletionError"))} for status in errors
    }
    entry = {
        "summary": summary,
        "tags": ["openai"],
        "parameters": [],
        "responses": {"200": {"description": "Done.", "content": answer}, **told},
        **more,
    }
    return {**entry, "security": [{"bearer": []}, {"apikey": []}]} if key else entry


_ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}

FRONT_PATHS: Mapping[str, Mapping[str, Mapping[str, object]]] = {
    "/v1/chat/completions": {
        "post": _entry(
            "A chat completion, as OpenAI's API has it: whole, or as a stream of events.",
            {**_json(ref("Completion")), "text/event-stream": {"schema": TEXT}},
            *_ERRORS,
            requestBody={"required": True, "content": _json(ref("CompletionRequest"), BODIES["CompletionRequest"])},
        )
    },
    "/v1/models": {"get": _entry("What chat workers serve now.", _json(ref("ModelCards")), 401, 429, 500, 503)},
    "/v1/models/{id}": {
        "get": _entry("One model.", _json(ref("ModelCard")), 401, 404, 429, 500, 503, parameters=[_ID]),
    },
    "/health": {"get": _entry("Whether this gateway lives.", _json(ref("Living")), key=False)},
    "/ready": {"get": _entry("Whether all that it needs is there.", _json(ref("Living")), 503, key=False)},
}
"""By address, as the document has them; `/health` and `/ready` stand under `/v1` too."""
