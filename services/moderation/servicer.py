"""Moderation's RPCs, one line each: wire in, handler, wire out."""

from typing import Any, override

from grpc.aio import ServicerContext

from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from horde_pb.moderation.v1.moderation_service_pb2_grpc import ModerationServiceServicer
from horde_pb.vocabulary.v1.caller_pb2 import AddressStanding
from services.moderation import wire
from services.moderation.deps import Deps
from services.moderation.handlers.check_address import check_address
from services.moderation.handlers.get_modes import get_modes
from services.moderation.handlers.get_policy import get_policy
from services.moderation.handlers.screen_prompt import screen_prompt

type _Context = ServicerContext[Any, Any]


class ModerationServicer(ModerationServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def ScreenPrompt(self, request: pb.ScreenPromptRequest, context: _Context) -> pb.ScreenPromptResponse:
        passed = await screen_prompt(wire.prompt_ask(request), self._deps)
        return pb.ScreenPromptResponse(rewritten=passed.rewritten, texts=passed.texts)

    @override
    async def CheckAddress(self, request: pb.CheckAddressRequest, context: _Context) -> pb.CheckAddressResponse:
        seconds = await check_address(request.address, self._deps)
        return pb.CheckAddressResponse(standing=AddressStanding(timeout_seconds=seconds))

    @override
    async def GetModes(self, request: pb.GetModesRequest, context: _Context) -> pb.GetModesResponse:
        modes = await get_modes(self._deps)
        return pb.GetModesResponse(maintenance=modes.maintenance, invite_only=modes.invite_only, raid=modes.raid)

    @override
    async def GetPolicy(self, request: pb.GetPolicyRequest, context: _Context) -> pb.GetPolicyResponse:
        return pb.GetPolicyResponse(has_filters=await get_policy(self._deps))
