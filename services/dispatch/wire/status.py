"""GetStatus, CancelRequest and GetGenerationState between proto and the rules' words."""

from collections.abc import Mapping
from types import MappingProxyType

import orjson

from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import status_pb2
from services.dispatch.rules.status import Finished, GenerationState, RequestStatus

_STATES: Mapping[GenerationState | None, pb.GenerationState.ValueType] = MappingProxyType(
    {
        None: pb.GENERATION_STATE_UNKNOWN,
        "pending": pb.GENERATION_STATE_PENDING,
        "finished": pb.GENERATION_STATE_FINISHED,
        "faulted": pb.GENERATION_STATE_FAULTED,
    }
)


def is_chat(family: pb.RequestFamily.ValueType) -> bool:
    """Which family of routes asks. Raises ValueError when the caller forgot to say."""
    if family not in (pb.REQUEST_FAMILY_CHAT, pb.REQUEST_FAMILY_TEXT):
        raise ValueError("the family of the request is not given")
    return family == pb.REQUEST_FAMILY_CHAT


def generation_state(state: GenerationState | None) -> pb.GenerationState.ValueType:
    """How a generation stands."""
    return _STATES[state]


def answer(found: RequestStatus) -> status_pb2.RequestStatus:
    """The whole status."""
    stored = found.standing
    tally = stored.tally
    made = status_pb2.RequestStatus(
        finished=tally.finished,
        processing=tally.processing,
        restarted=tally.restarted,
        waiting=tally.waiting,
        done=tally.is_done,
        faulted=tally.faulted,
        wait_time_seconds=found.wait_time_seconds,
        queue_position=found.queue_position,
        kudos_hundredths=stored.consumed_kudos,
        is_possible=found.is_possible,
        eligible_workers=found.availability.workers,
        eligible_worker_threads=found.availability.threads,
        might_stall=False,
        generations=[_generation(finished) for finished in stored.generations],
        impossible_reason=_json(found.impossible_reason),
        context_adjustments=(stored.context_adjustments or "").encode(),
        # told once the request is faulted, not while another worker may still serve it
        fault_reason=stored.fault_reason if tally.faulted else None,
        fault_rc=stored.fault_rc if tally.faulted else None,
        cancelled=tally.cancelled,
        streamed=stored.streamed,
    )
    made.created.FromDatetime(stored.created)
    return made


def _generation(finished: Finished) -> status_pb2.GenerationStatus:
    return status_pb2.GenerationStatus(
        id=finished.id,
        worker_id=finished.worker_id,
        worker_name=finished.worker_name,
        model=finished.model,
        state=finished.state,
        text=finished.text,
        seed=finished.seed,
        gen_metadata=_json(finished.gen_metadata),
        message=_json(finished.message),
        finish_reason=finished.finish_reason,
        native_finish_reason=finished.native_finish_reason,
        prompt_tokens=finished.prompt_tokens,
        completion_tokens=finished.completion_tokens,
        reasoning_tokens=finished.reasoning_tokens,
        charge_basis=finished.charge_basis,
        queue_wait_seconds=finished.queue_wait_seconds,
        kudos_hundredths=finished.kudos,
    )


def _json(value: object) -> bytes:
    return b"" if value is None else orjson.dumps(value)
