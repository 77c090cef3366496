"""The gRPC face: each method is its handler, between two translations."""

from typing import Any, override

import grpc

from horde.telemetry import tracing
from horde_pb.admission.v1 import admission_service_pb2 as pb
from horde_pb.admission.v1 import admission_service_pb2_grpc as pb_grpc
from services.admission import wire
from services.admission.deps import Deps
from services.admission.handlers.admit_chat import admit_chat
from services.admission.handlers.find_account import find_account

type Context = grpc.aio.ServicerContext[Any, Any]


class AdmissionServicer(pb_grpc.AdmissionServiceServicer):
    """AdmissionService over these dependencies."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def AdmitChat(self, request: pb.AdmitChatRequest, context: Context) -> pb.AdmitChatResponse:
        traceparent = dict(tracing.outgoing()).get("traceparent")
        return wire.admitted(await admit_chat(wire.ask(request, traceparent), self._deps))

    @override
    async def FindAccount(self, request: pb.FindAccountRequest, context: Context) -> pb.FindAccountResponse:
        return wire.account(await find_account(request.api_key, self._deps))
