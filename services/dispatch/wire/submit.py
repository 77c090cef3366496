"""SubmitResult and SubmitFault between proto and the rules' words."""

from horde.contract import reasons, strict_json
from horde.contract.refusal import Refusal
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from services.dispatch.rules.reply import State
from services.dispatch.rules.submission import FaultAsk, ReplyAsk

_STATES: dict[str, State] = {"": "ok", "ok": "ok", "censored": "censored", "csam": "csam"}


def reply_ask(request: pb.SubmitResultRequest) -> ReplyAsk:
    """What a worker hands in. Raises Refusal(ValidationFailed) for an unknown state, BadRequest for what is no JSON."""
    state = _STATES.get(request.state)
    if state is None:
        raise Refusal(
            reasons.VALIDATION_FAILED,
            "Input payload validation failed",
            {"errors": {"state": f"'{request.state[:32]}' is not one of ok, censored, csam"}},
        )
    return ReplyAsk(
        api_key=request.caller.api_key,
        generation_id=request.generation_id,
        state=state,
        chat=request.chat,
        text=request.generation if request.HasField("generation") else None,
        message=_json(request.message),
        has_message=bool(request.message),
        finish_reason=request.finish_reason if request.HasField("finish_reason") else None,
        native_finish_reason=request.native_finish_reason if request.HasField("native_finish_reason") else None,
        counts=_json(request.counts),
        model_id=request.model_id if request.HasField("model_id") else None,
        seed=request.seed,
        gen_metadata=_json(request.gen_metadata),
    )


def fault_ask(request: pb.SubmitFaultRequest) -> FaultAsk:
    """What a worker gives up. The reason counts in a chat submit alone."""
    return FaultAsk(
        api_key=request.caller.api_key,
        generation_id=request.generation_id,
        fault_reason=request.fault_reason if request.chat else "",
    )


def reward(amount: int) -> pb.SubmitResultResponse:
    """What the reply earned, in hundredths of a kudo."""
    return pb.SubmitResultResponse(reward_hundredths=amount)


def _json(sent: bytes) -> object:
    return strict_json.loads(sent) if sent else None
