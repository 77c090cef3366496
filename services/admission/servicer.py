"""The gRPC face: each method is its handler, between two translations."""

from typing import Any, override

import grpc

from horde.telemetry import tracing
from horde_pb.admission.v1 import admission_service_pb2 as pb
from horde_pb.admission.v1 import admission_service_pb2_grpc as pb_grpc
from horde_pb.admission.v1.accounts_service_pb2_grpc import add_AccountsServiceServicer_to_server
from services.admission import wire
from services.admission.accounts_servicer import AccountsServicer
from services.admission.deps import Deps
from services.admission.handlers.admit_chat import admit_chat
from services.admission.handlers.admit_text import admit_text
from services.admission.handlers.find_account import find_account
from services.admission.handlers.get_kudos_flow import get_kudos_flow
from services.admission.handlers.get_text_submission import get_text_submission
from services.admission.handlers.list_proxy_passkeys import list_proxy_passkeys

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
    async def AdmitText(self, request: pb.AdmitTextRequest, context: Context) -> pb.AdmitTextResponse:
        traceparent = dict(tracing.outgoing()).get("traceparent")
        return wire.text_admitted(await admit_text(wire.ask(request, traceparent), self._deps))

    @override
    async def GetTextSubmission(
        self, request: pb.GetTextSubmissionRequest, context: Context
    ) -> pb.GetTextSubmissionResponse:
        submission = await get_text_submission(request.api_key, request.request_id, self._deps)
        return pb.GetTextSubmissionResponse(submission=submission)

    @override
    async def FindAccount(self, request: pb.FindAccountRequest, context: Context) -> pb.FindAccountResponse:
        return wire.account(await find_account(request.api_key, self._deps))

    @override
    async def ListProxyPasskeys(
        self, request: pb.ListProxyPasskeysRequest, context: Context
    ) -> pb.ListProxyPasskeysResponse:
        return pb.ListProxyPasskeysResponse(passkey_hashes=await list_proxy_passkeys(self._deps))

    @override
    async def GetKudosFlow(self, request: pb.GetKudosFlowRequest, context: Context) -> pb.GetKudosFlowResponse:
        return wire.kudos_flow(await get_kudos_flow(self._deps))


def add_to(server: grpc.aio.Server, deps: Deps) -> None:
    """Every service of this process."""
    pb_grpc.add_AdmissionServiceServicer_to_server(AdmissionServicer(deps), server)
    add_AccountsServiceServicer_to_server(AccountsServicer(deps), server)
