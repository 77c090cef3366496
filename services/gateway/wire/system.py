"""How the horde as a whole is: modes and performance. base-domain 9."""

import orjson

from horde_pb.admission.v1.admission_service_pb2 import GetKudosFlowRequest
from horde_pb.dispatch.v1.dispatch_service_pb2 import GetPerformanceRequest, GetPerformanceResponse
from horde_pb.dispatch.v1.statistics_pb2 import GetTextStatisticsRequest, GetTextStatisticsResponse
from horde_pb.moderation.v1.moderation_service_pb2 import (
    GetModesRequest,
    GetModesResponse,
    SetModesRequest,
    SetModesResponse,
)
from services.gateway.answers import Answer, json_answer
from services.gateway.caller import Caller
from services.gateway.wire.callers import to_wire
from services.gateway.wire.fields import Fields


def modes_request() -> GetModesRequest:
    """The message that asks for the modes."""
    return GetModesRequest()


def set_modes_request(body: dict[str, object], caller: Caller) -> SetModesRequest:
    """The message that switches modes. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    ask = SetModesRequest(
        caller=to_wire(caller),
        maintenance=fields.flag("maintenance_mode"),
        invite_only=fields.flag("invite_only_mode"),
        raid=fields.flag("raid_mode"),
    )
    fields.check()
    return ask


def set_modes_answer(changed: SetModesResponse) -> Answer:
    """What was switched, and nothing else."""
    return Answer(orjson.dumps({f"{field.name}_mode": value for field, value in changed.ListFields()}))


def performance_request() -> GetPerformanceRequest:
    """The message that asks how much is queued and who works on it."""
    return GetPerformanceRequest()


def text_statistics_request() -> GetTextStatisticsRequest:
    """The message that asks what was made."""
    return GetTextStatisticsRequest()


def text_totals_answer(made: GetTextStatisticsResponse) -> Answer:
    """Requests and tokens of the last minute, hour, day, 30 days, and ever."""
    periods = {name: getattr(made, name) for name in ("minute", "hour", "day", "month", "total")}
    return json_answer({name: {"requests": of.requests, "tokens": of.tokens} for name, of in periods.items()})


def text_models_answer(made: GetTextStatisticsResponse) -> Answer:
    """Requests by model; a model that did nothing in a period is not in it."""
    return json_answer(
        {
            period: {one.model: count for one in made.models if (count := getattr(one, period))}
            for period in ("day", "month", "total")
        }
    )


def kudos_flow_request() -> GetKudosFlowRequest:
    """The message that asks how kudos moved in the last day."""
    return GetKudosFlowRequest()


def modes_answer(modes: GetModesResponse, *, moderator: bool) -> Answer:
    """The modes; the raid mode is only for moderators."""
    value = {"maintenance_mode": modes.maintenance, "invite_only_mode": modes.invite_only}
    if moderator:
        value["raid_mode"] = modes.raid
    return Answer(orjson.dumps(value))


def performance_answer(measured: GetPerformanceResponse) -> Answer:
    """Queue and workers. Work that this horde does not do is there as zeros, for clients that read it."""
    value = {
        "queued_requests": 0,
        "queued_text_requests": measured.queued_text_requests,
        "worker_count": 0,
        "text_worker_count": measured.text_worker_count,
        "thread_count": 0,
        "text_thread_count": measured.text_thread_count,
        "queued_megapixelsteps": 0,
        "past_minute_megapixelsteps": 0,
        "queued_forms": 0,
        "interrogator_count": 0,
        "interrogator_thread_count": 0,
        "queued_tokens": measured.queued_tokens,
        "past_minute_tokens": measured.past_minute_tokens,
    }
    return Answer(orjson.dumps(value))
