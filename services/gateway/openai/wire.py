"""The services' messages in the front's own words: the only module of the front that knows them."""

from collections.abc import Mapping, Sequence
from typing import cast

import orjson

from horde_pb.admission.v1.account_details_pb2 import GetAccountRequest
from horde_pb.admission.v1.admission_service_pb2 import ADMIT_OUTCOME_QUOTED, AdmitChatResponse
from horde_pb.dispatch.v1.dispatch_service_pb2 import GetStatusRequest, ListModelsResponse
from horde_pb.dispatch.v1.status_pb2 import GenerationStatus, RequestStatus
from horde_pb.progress.v1.progress_service_pb2 import WatchRequestRequest, WatchRequestResponse
from services.gateway.openai.reply import Ended, Event, Gap, Piece, Reply, Signal, Standing, Subscribed
from services.gateway.wire import chat

type Watched = WatchRequestResponse
"""A message of a watched request, as it arrives."""

submit_request = chat.submit_request
cancel_request = chat.cancel_request

_FINISH_REASONS = frozenset({"stop", "length", "content_filter", "tool_calls"})


def account_request(api_key: str) -> GetAccountRequest:
    """The message that asks whether a key is somebody's, a shared one included."""
    return GetAccountRequest(api_key=api_key)


def status_request(request_id: str) -> GetStatusRequest:
    """The message that asks where a request stands."""
    return chat.status_request(request_id)


def watch_request(request_id: str) -> WatchRequestRequest:
    """The message that asks for a request's events from their start."""
    return WatchRequestRequest(request_id=request_id)


def is_queued(admitted: AdmitChatResponse) -> bool:
    """Whether there is a request to follow, new or repeated."""
    return admitted.outcome != ADMIT_OUTCOME_QUOTED and bool(admitted.request_id)


def event(message: Watched) -> Event:
    """One event of a watched request."""
    match message.WhichOneof("event"):
        case "delta":
            delta = message.delta
            return Piece(
                delta.generation_id, delta.seq, delta.content, delta.reasoning_content, delta.worker_id, delta.model
            )
        case "ended":
            return Ended(message.ended.generation_id)
        case "signal":
            signal = message.signal
            return Signal(
                signal.event,
                signal.fault_reason if signal.HasField("fault_reason") else None,
                signal.fault_rc if signal.HasField("fault_rc") else None,
            )
        case _:
            return Subscribed()


def standing(status: RequestStatus) -> Standing:
    """Where the request stands. The front asks for one answer, so the first stored generation is the reply."""
    return Standing(
        is_done=status.done,
        is_faulted=status.faulted,
        processing=status.processing,
        eligible_threads=status.eligible_worker_threads,
        wait_time_seconds=status.wait_time_seconds,
        created=status.created.seconds,
        kudos_hundredths=status.kudos_hundredths,
        gap=_gap(status.impossible_reason),
        adjustments=cast(
            "Sequence[Mapping[str, object]]",
            orjson.loads(status.context_adjustments) if status.context_adjustments else (),
        )
        or (),
        fault_reason=status.fault_reason if status.HasField("fault_reason") else None,
        fault_rc=status.fault_rc if status.HasField("fault_rc") else None,
        reply=_reply(status.generations[0]) if status.generations else None,
    )


def _gap(packed: bytes) -> Gap | None:
    facts = orjson.loads(packed) if packed else None
    if not facts:
        return None
    return Gap(tuple(facts.get("missing_declarations") or ()), tuple(facts.get("exceeded_limits") or ()), facts)


def _reply(one: GenerationStatus) -> Reply:
    message = (orjson.loads(one.message) if one.message else None) or {"content": one.text}
    calls = message.get("tool_calls") or ()
    return Reply(
        generation_id=one.id,
        worker_id=one.worker_id,
        worker_name=one.worker_name,
        model=one.model,
        content=message.get("content"),
        reasoning=message.get("reasoning_content") or None,
        tool_calls=calls,
        finish_reason=_finish_reason(one, has_calls=bool(calls)),
        native_finish_reason=one.native_finish_reason if one.HasField("native_finish_reason") else None,
        prompt_tokens=one.prompt_tokens if one.HasField("prompt_tokens") else None,
        completion_tokens=one.completion_tokens if one.HasField("completion_tokens") else None,
        reasoning_tokens=one.reasoning_tokens if one.HasField("reasoning_tokens") else None,
        charge_basis=one.charge_basis if one.HasField("charge_basis") else None,
        queue_wait_seconds=one.queue_wait_seconds,
    )


def _finish_reason(one: GenerationStatus, *, has_calls: bool) -> str:
    """OpenAI's reason. A worker's censoring is a content filter; `tool_calls` without any call would break clients."""
    if one.state in {"censored", "csam"}:
        return "content_filter"
    told = one.finish_reason
    if told not in _FINISH_REASONS:
        return "tool_calls" if has_calls else "stop"
    return "stop" if told == "tool_calls" and not has_calls else told


def cards(listed: ListModelsResponse) -> list[dict[str, object]]:
    """The models that an online chat worker serves, in OpenAI's shape with what the horde adds."""
    return [
        {
            "id": model.name,
            "object": "model",
            "created": model.chat.created if model.chat.HasField("created") else 0,
            "owned_by": "ai-horde",
            # Three names for two numbers: clients of OpenRouter, of vLLM and of others look under different ones.
            "context_length": model.chat.max_context_length,
            "max_model_len": model.chat.max_context_length,
            "max_completion_tokens": model.chat.max_length,
            "horde": {
                "workers": model.chat.workers,
                "features": sorted(model.chat.features),
                "max_context_length": model.chat.max_context_length,
                "max_length": model.chat.max_length,
                "queued": model.queued,
                "eta": model.eta_seconds,
            },
        }
        for model in listed.models
        if model.HasField("chat") and "horde_special" not in model.name
    ]
