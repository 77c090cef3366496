"""How the horde as a whole is: modes and performance. base-domain 9."""

import orjson

from horde_pb.dispatch.v1.dispatch_service_pb2 import GetPerformanceRequest, GetPerformanceResponse
from horde_pb.moderation.v1.moderation_service_pb2 import GetModesRequest, GetModesResponse
from services.gateway.answers import Answer


def modes_request() -> GetModesRequest:
    """The message that asks for the modes."""
    return GetModesRequest()


def performance_request() -> GetPerformanceRequest:
    """The message that asks how much is queued and who works on it."""
    return GetPerformanceRequest()


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
