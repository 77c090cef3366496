"""A text request's submit, status and submission: base-domain 3.3, 3.8 and 3.13."""

import orjson

from horde_pb.admission.v1.admission_service_pb2 import (
    ADMIT_OUTCOME_QUOTED,
    AdmitTextRequest,
    AdmitTextResponse,
    GetTextSubmissionRequest,
    GetTextSubmissionResponse,
)
from horde_pb.dispatch.v1.dispatch_service_pb2 import REQUEST_FAMILY_TEXT, CancelRequestRequest, GetStatusRequest
from horde_pb.dispatch.v1.status_pb2 import RequestStatus
from services.gateway.answers import Answer
from services.gateway.caller import Caller
from services.gateway.wire.callers import to_wire
from services.gateway.wire.status import shared_fields, shared_generation


def submit_request(body: bytes, caller: Caller) -> AdmitTextRequest:
    """The message of a submit: the body goes on as it came."""
    return AdmitTextRequest(caller=to_wire(caller), body=body)


def submit_answer(admitted: AdmitTextResponse) -> Answer:
    """202 for a new request, 200 for a quote. Nulls are left out."""
    if admitted.outcome == ADMIT_OUTCOME_QUOTED:
        return Answer(
            orjson.dumps({"kudos": admitted.kudos, "resolved": orjson.Fragment(admitted.resolved or b"null")})
        )
    value: dict[str, object] = {"id": admitted.request_id, "kudos": admitted.kudos}
    if admitted.message:
        value["message"] = admitted.message
    return Answer(orjson.dumps(value), 202)


def status_request(request_id: str) -> GetStatusRequest:
    """The message that asks for a text request's status."""
    return GetStatusRequest(request_id=request_id, family=REQUEST_FAMILY_TEXT)


def cancel_request(request_id: str) -> CancelRequestRequest:
    """The message that cancels a text request."""
    return CancelRequestRequest(request_id=request_id, family=REQUEST_FAMILY_TEXT)


def status_answer(status: RequestStatus) -> Answer:
    """How the request stands. It must have no `message`: clients take one for a failure."""
    generations = [shared_generation(generation) for generation in status.generations]
    return Answer(orjson.dumps({**shared_fields(status), "generations": generations}))


def submission_request(request_id: str, api_key: str) -> GetTextSubmissionRequest:
    """The message that asks for what was submitted."""
    return GetTextSubmissionRequest(api_key=api_key, request_id=request_id)


def submission_answer(kept: GetTextSubmissionResponse) -> Answer:
    """What was submitted."""
    return Answer(kept.submission)
