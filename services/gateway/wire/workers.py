"""Workers as the public routes tell and change them: base-domain 4.12, 4.13; chat reference, Worker details."""

from datetime import datetime

import orjson

from horde_pb.dispatch.v1.worker_routes_pb2 import (
    DeleteWorkerRequest,
    DeleteWorkerResponse,
    GetWorkerRequest,
    ListWorkersRequest,
    ListWorkersResponse,
    UpdateWorkerRequest,
    UpdateWorkerResponse,
)
from horde_pb.dispatch.v1.workers_pb2 import ChatDeclaration, WorkerDetails
from services.gateway.answers import Answer
from services.gateway.caller import Caller
from services.gateway.validation import invalid
from services.gateway.wire import worker_messages
from services.gateway.wire.callers import to_wire
from services.gateway.wire.fields import Fields

_TYPES = ("image", "text", "interrogation")
_UNMEASURED = "No requests fulfilled yet"
"""Clients in the field look for these words."""

NONE = Answer(b"[]")


def list_request(query: dict[str, str], caller: Caller) -> ListWorkersRequest | None:
    """The message that asks for the list; None when only workers of another kind are wanted, of which there are none.

    Raises Refusal(ValidationFailed).
    """
    kind = query.get("type") or "text"
    if kind not in _TYPES:
        raise invalid({"type": f"has to be one of {', '.join(_TYPES)}"})
    name = query.get("name") or None
    if name is None and kind != "text":
        return None
    return ListWorkersRequest(caller=to_wire(caller), name=name)


def public_list_request() -> ListWorkersRequest:
    """The message that asks for the list as anyone may see it."""
    return ListWorkersRequest()


def by_id(worker_id: str, caller: Caller) -> GetWorkerRequest:
    """The message that asks for the worker of an id."""
    return GetWorkerRequest(caller=to_wire(caller), id=worker_id)


def by_name(name: str, caller: Caller) -> GetWorkerRequest:
    """The message that asks for the worker of a name."""
    return GetWorkerRequest(caller=to_wire(caller), name=name)


def update_request(worker_id: str, body: dict[str, object], caller: Caller) -> UpdateWorkerRequest:
    """The message of a change. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    ask = UpdateWorkerRequest(
        caller=to_wire(caller),
        worker_id=worker_id,
        maintenance=fields.flag("maintenance"),
        maintenance_msg=fields.text("maintenance_msg"),
        paused=fields.flag("paused"),
        info=fields.text("info"),
        name=fields.text("name"),
    )
    fields.check()
    return ask


def delete_request(worker_id: str, caller: Caller) -> DeleteWorkerRequest:
    """The message that removes a worker."""
    return DeleteWorkerRequest(caller=to_wire(caller), worker_id=worker_id)


def list_answer(listed: ListWorkersResponse, now: datetime) -> Answer:
    """The list."""
    return Answer(orjson.dumps([_details(worker, now) for worker in listed.workers]))


def one_answer(worker: WorkerDetails, now: datetime) -> Answer:
    """One worker."""
    return Answer(orjson.dumps(_details(worker, now)))


def update_answer(changed: UpdateWorkerResponse) -> Answer:
    """What was changed, and nothing else."""
    value = {field.name: told for field, told in changed.ListFields()}
    return Answer(orjson.dumps(value))


def delete_answer(gone: DeleteWorkerResponse) -> Answer:
    """What is gone."""
    return Answer(orjson.dumps({"deleted_id": gone.deleted_id, "deleted_name": gone.deleted_name}))


def _details(worker: WorkerDetails, now: datetime) -> dict[str, object]:
    """Absent values are left out, as upstream leaves out nulls."""
    value: dict[str, object] = {
        "name": worker.name,
        "id": worker.id,
        "type": "text",
        "online": worker.online,
        "requests_fulfilled": worker.requests_fulfilled,
        "kudos_rewards": _kudos(worker.kudos_hundredths),
        "kudos_details": {
            "generated": _kudos(worker.generated_hundredths),
            "uptime": _kudos(worker.uptime_hundredths),
        },
        "performance": f"{worker.speed:.1f} tokens per second" if worker.HasField("speed") else _UNMEASURED,
        "threads": worker.threads,
        "uptime": worker.uptime_seconds,
        "maintenance_mode": worker.maintenance,
        "nsfw": worker.nsfw,
        "trusted": worker.trusted,
        "flagged": worker.flagged,
        "uncompleted_jobs": worker.uncompleted_jobs,
        "nonconformant_replies": worker.nonconformant_replies,
        "models": list(worker.models),
        "bridge_agent": worker.bridge_agent,
        "max_length": worker.max_length,
        "max_context_length": worker.max_context_length,
        "accepts_chat_jobs": worker.HasField("chat"),
        "accepts_prompt_jobs": worker.prompt_jobs,
    }
    if worker.HasField("info"):
        value["info"] = worker.info
    if worker.HasField("chat"):
        value["chat"] = _chat(worker.chat)
    if worker.HasField("owner"):
        value |= {"owner": worker.owner, "messages": worker_messages.told(worker.messages, now)}
    if worker.HasField("file"):
        value |= {"paused": worker.file.paused, "suspicious": worker.file.suspicions}
        if worker.file.HasField("address"):
            value["ipaddr"] = worker.file.address
        if worker.file.HasField("contact"):
            value["contact"] = worker.file.contact
    return value


def _chat(chat: ChatDeclaration) -> dict[str, object]:
    limits: dict[str, object] = {
        "max_context_length": chat.chat_limits.max_context_length,
        "max_length": chat.chat_limits.max_length,
    }
    if chat.chat_limits.HasField("tools_max_temperature"):
        limits["tools_max_temperature"] = chat.chat_limits.tools_max_temperature
    return {
        "model_id": chat.model_id,
        "features": list(chat.chat_features),
        "limits": limits,
        "image_transports": list(chat.image_transports),
    }


def _kudos(hundredths: int) -> float:
    """A number with at most two decimals."""
    kudos = hundredths / 100
    return int(kudos) if kudos.is_integer() else kudos
