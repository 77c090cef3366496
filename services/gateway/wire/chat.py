"""A chat request's submit and status: base-domain 3.3 and 3.8, and the chat reference."""

import orjson

from horde_pb.admission.v1.admission_service_pb2 import (
    ADMIT_OUTCOME_QUEUED,
    ADMIT_OUTCOME_QUOTED,
    AdmitChatRequest,
    AdmitChatResponse,
)
from horde_pb.dispatch.v1.dispatch_service_pb2 import REQUEST_FAMILY_CHAT, CancelRequestRequest, GetStatusRequest
from horde_pb.dispatch.v1.status_pb2 import GenerationStatus, RequestStatus
from services.gateway.answers import Answer
from services.gateway.caller import Caller
from services.gateway.wire.callers import to_wire
from services.gateway.wire.status import shared_fields, shared_generation


def submit_request(body: bytes, caller: Caller) -> AdmitChatRequest:
    """The message of a submit: the body goes on as it came."""
    return AdmitChatRequest(caller=to_wire(caller), body=body)


def submit_answer(admitted: AdmitChatResponse) -> Answer:
    """202 for a new request, 200 for a repeated one and for a quote. Nulls are left out."""
    if admitted.outcome == ADMIT_OUTCOME_QUOTED:
        return Answer(
            orjson.dumps({"kudos": admitted.kudos, "resolved": orjson.Fragment(admitted.resolved or b"null")})
        )
    value: dict[str, object] = {"id": admitted.request_id, "kudos": admitted.kudos}
    if admitted.outcome != ADMIT_OUTCOME_QUEUED:
        return Answer(orjson.dumps(value))
    if admitted.message:
        value["message"] = admitted.message
    if admitted.warnings:
        value["warnings"] = [{"code": warning.code, "message": warning.message} for warning in admitted.warnings]
    return Answer(orjson.dumps(value), 202)


def status_request(request_id: str) -> GetStatusRequest:
    """The message that asks for a chat request's status."""
    return GetStatusRequest(request_id=request_id, family=REQUEST_FAMILY_CHAT)


def cancel_request(request_id: str) -> CancelRequestRequest:
    """The message that cancels a chat request."""
    return CancelRequestRequest(request_id=request_id, family=REQUEST_FAMILY_CHAT)


def status_answer(status: RequestStatus) -> Answer:
    """The text status' fields, then what chat adds. Money is whole kudos."""
    value = {
        **shared_fields(status),
        "generations": [_generation(generation) for generation in status.generations],
        "impossible_reason": _json(status.impossible_reason),
        "context_adjustments": _json(status.context_adjustments),
        "fault_reason": status.fault_reason if status.HasField("fault_reason") else None,
        "fault_rc": status.fault_rc if status.HasField("fault_rc") else None,
    }
    return Answer(orjson.dumps(value))


def _generation(one: GenerationStatus) -> dict[str, object]:
    return {
        **shared_generation(one),
        "message": _json(one.message),
        "finish_reason": one.finish_reason if one.HasField("finish_reason") else None,
        "native_finish_reason": one.native_finish_reason if one.HasField("native_finish_reason") else None,
        "prompt_tokens": one.prompt_tokens if one.HasField("prompt_tokens") else None,
        "completion_tokens": one.completion_tokens if one.HasField("completion_tokens") else None,
        "reasoning_tokens": one.reasoning_tokens if one.HasField("reasoning_tokens") else None,
        "charge_basis": one.charge_basis if one.HasField("charge_basis") else None,
        "queue_wait_seconds": one.queue_wait_seconds,
    }


def _json(packed: bytes) -> orjson.Fragment | None:
    return orjson.Fragment(packed) if packed else None
