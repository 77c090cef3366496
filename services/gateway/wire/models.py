"""The model lists: base-domain 9, and the chat reference's chat model list."""

from dataclasses import dataclass
from typing import Literal

import orjson

from horde_pb.dispatch.v1.dispatch_service_pb2 import ListModelsRequest, ListModelsResponse
from horde_pb.dispatch.v1.models_pb2 import ChatOffer, ModelStatus
from services.gateway.answers import Answer
from services.gateway.validation import invalid

_HIDDEN = "horde_special"
_STATES = ("known", "custom", "all")
"""Whether the text model reference lists the model. All is the default: a chat model is known by being served."""
_TYPES = ("image", "text")


@dataclass(frozen=True, slots=True)
class ModelQuery:
    """Which models a caller wants to see."""

    kind: Literal["image", "text"]
    chat: bool
    state: str
    min_count: int | None
    max_count: int | None


def request(*, chat: bool) -> ListModelsRequest:
    """The message that asks for the models: all of them, or those of chat workers with their offers."""
    return ListModelsRequest(chat=chat)


def read(query: dict[str, str]) -> ModelQuery:
    """The query string of the list. Raises Refusal(ValidationFailed)."""
    errors: dict[str, str] = {}
    kind = query.get("type", "image")
    if kind not in _TYPES:
        errors["type"] = f"has to be one of {', '.join(_TYPES)}"
    chat = _flag(query, "chat", errors)
    if chat and kind != "text":
        errors.setdefault("chat", "is only for type=text")
    state = query.get("model_state", "all")
    if state not in _STATES:
        errors["model_state"] = f"has to be one of {', '.join(_STATES)}"
    least, most = _count(query, "min_count", errors), _count(query, "max_count", errors)
    if errors:
        raise invalid(errors)
    return ModelQuery("text" if kind == "text" else "image", chat, state, least, most)


def answer(listed: ListModelsResponse, query: ModelQuery) -> Answer:
    """The models that the query lets through."""
    entries = [
        _entry(model, chat=query.chat)
        for model in listed.models
        if _HIDDEN not in model.name
        and query.state in {"all", "custom" if model.custom else "known"}
        and (query.min_count is None or model.count >= query.min_count)
        and (query.max_count is None or model.count <= query.max_count)
    ]
    return Answer(orjson.dumps(entries))


def one(listed: ListModelsResponse, name: str) -> Answer | None:
    """A list of the one model of that name, as upstream answers; None when it is not served."""
    entries = [_entry(model, chat=False) for model in listed.models if model.name == name and _HIDDEN not in name]
    return Answer(orjson.dumps(entries)) if entries else None


def _entry(model: ModelStatus, *, chat: bool) -> dict[str, object]:
    entry: dict[str, object] = {
        "name": model.name,
        "count": model.count,
        "type": "text",
        "performance": round(model.performance, 1),
        "queued": model.queued,
        "jobs": model.jobs,
        "eta": model.eta_seconds,
    }
    if chat and model.HasField("chat"):
        entry["chat"] = _offer(model.chat)
    return entry


def _offer(offer: ChatOffer) -> dict[str, object]:
    return {
        "workers": offer.workers,
        "max_context_length": offer.max_context_length,
        "max_length": offer.max_length,
        "features": sorted(offer.features),
        "created": offer.created if offer.HasField("created") else None,
    }


def _flag(query: dict[str, str], key: str, errors: dict[str, str]) -> bool:
    match query.get(key, "false").lower():
        case "true" | "1" | "yes" | "on":
            return True
        case "false" | "0" | "no" | "off" | "":
            return False
        case _:
            errors[key] = "is not of type 'boolean'"
            return False


def _count(query: dict[str, str], key: str, errors: dict[str, str]) -> int | None:
    text = query.get(key)
    if text is None or text == "":
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:  # noqa: PLR2004 - nine digits are an int32
        errors[key] = "has to be a whole number from 0 on"
        return None
    return int(text)
