"""Moderation's RPCs, one line each: wire in, handler, wire out."""

from typing import Any, override

import grpc
from grpc.aio import ServicerContext

from horde_pb.moderation.v1 import addresses_pb2, filters_pb2
from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from horde_pb.moderation.v1.addresses_pb2_grpc import AddressesServiceServicer, add_AddressesServiceServicer_to_server
from horde_pb.moderation.v1.filters_pb2_grpc import FiltersServiceServicer, add_FiltersServiceServicer_to_server
from horde_pb.moderation.v1.moderation_service_pb2_grpc import (
    ModerationServiceServicer,
    add_ModerationServiceServicer_to_server,
)
from horde_pb.moderation.v1.reports_service_pb2_grpc import add_ReportsServiceServicer_to_server
from horde_pb.moderation.v1.review_service_pb2_grpc import add_ReviewServiceServicer_to_server
from horde_pb.vocabulary.v1.caller_pb2 import AddressStanding
from services.moderation.deps import Deps
from services.moderation.handlers.block_address import block_address
from services.moderation.handlers.block_worker_address import block_worker_address
from services.moderation.handlers.check_address import check_address
from services.moderation.handlers.create_filter import create_filter
from services.moderation.handlers.delete_filter import delete_filter
from services.moderation.handlers.get_address_timeouts import get_address_timeouts
from services.moderation.handlers.get_filter import get_filter
from services.moderation.handlers.get_modes import get_modes
from services.moderation.handlers.get_policy import get_policy
from services.moderation.handlers.list_address_blocks import list_address_blocks
from services.moderation.handlers.list_compiled_filters import list_compiled_filters
from services.moderation.handlers.list_filters import list_filters
from services.moderation.handlers.match_filters import match_filters
from services.moderation.handlers.screen_prompt import screen_prompt
from services.moderation.handlers.set_modes import set_modes
from services.moderation.handlers.unblock_address import unblock_address
from services.moderation.handlers.unblock_worker_address import unblock_worker_address
from services.moderation.handlers.update_filter import update_filter
from services.moderation.reports_servicer import ReportsServicer
from services.moderation.review_servicer import ReviewServicer
from services.moderation.wire import addresses, filters, modes, screening

type _Context = ServicerContext[Any, Any]


class ModerationServicer(ModerationServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def ScreenPrompt(self, request: pb.ScreenPromptRequest, context: _Context) -> pb.ScreenPromptResponse:
        passed = await screen_prompt(screening.prompt_ask(request), self._deps)
        return pb.ScreenPromptResponse(rewritten=passed.rewritten, texts=passed.texts)

    @override
    async def CheckAddress(self, request: pb.CheckAddressRequest, context: _Context) -> pb.CheckAddressResponse:
        seconds = await check_address(request.address, self._deps)
        return pb.CheckAddressResponse(standing=AddressStanding(timeout_seconds=seconds))

    @override
    async def GetModes(self, request: pb.GetModesRequest, context: _Context) -> pb.GetModesResponse:
        return modes.told(await get_modes(self._deps))

    @override
    async def SetModes(self, request: pb.SetModesRequest, context: _Context) -> pb.SetModesResponse:
        change = modes.change(request)
        await set_modes(request.caller.api_key, change, self._deps)
        return modes.changed(change)

    @override
    async def GetPolicy(self, request: pb.GetPolicyRequest, context: _Context) -> pb.GetPolicyResponse:
        return pb.GetPolicyResponse(has_filters=await get_policy(self._deps))


class FiltersServicer(FiltersServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def ListFilters(
        self, request: filters_pb2.ListFiltersRequest, context: _Context
    ) -> filters_pb2.ListFiltersResponse:
        kind = filters.kind(request)
        return filters.listed(await list_filters(request.caller.api_key, kind, request.contains, self._deps))

    @override
    async def CreateFilter(
        self, request: filters_pb2.CreateFilterRequest, context: _Context
    ) -> filters_pb2.CreateFilterResponse:
        made = await create_filter(request.caller.api_key, filters.draft(request), self._deps)
        return filters_pb2.CreateFilterResponse(filter=filters.one(made))

    @override
    async def MatchFilters(
        self, request: filters_pb2.MatchFiltersRequest, context: _Context
    ) -> filters_pb2.MatchFiltersResponse:
        kind = filters.kind(request)
        matches = await match_filters(request.caller.api_key, request.prompt, kind, self._deps)
        return filters_pb2.MatchFiltersResponse(suspicion=len(matches), matches=matches)

    @override
    async def ListCompiledFilters(
        self, request: filters_pb2.ListCompiledFiltersRequest, context: _Context
    ) -> filters_pb2.ListCompiledFiltersResponse:
        kind = filters.kind(request)
        return filters.compiled(await list_compiled_filters(request.caller.api_key, kind, self._deps))

    @override
    async def GetFilter(
        self, request: filters_pb2.GetFilterRequest, context: _Context
    ) -> filters_pb2.GetFilterResponse:
        found = await get_filter(request.caller.api_key, request.id, self._deps)
        return filters_pb2.GetFilterResponse(filter=filters.one(found))

    @override
    async def UpdateFilter(
        self, request: filters_pb2.UpdateFilterRequest, context: _Context
    ) -> filters_pb2.UpdateFilterResponse:
        changed = await update_filter(request.caller.api_key, request.id, filters.change(request), self._deps)
        return filters_pb2.UpdateFilterResponse(filter=filters.one(changed))

    @override
    async def DeleteFilter(
        self, request: filters_pb2.DeleteFilterRequest, context: _Context
    ) -> filters_pb2.DeleteFilterResponse:
        await delete_filter(request.caller.api_key, request.id, self._deps)
        return filters_pb2.DeleteFilterResponse()


class AddressesServicer(AddressesServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def ListAddressBlocks(
        self, request: addresses_pb2.ListAddressBlocksRequest, context: _Context
    ) -> addresses_pb2.ListAddressBlocksResponse:
        blocks = await list_address_blocks(request.caller.api_key, self._deps)
        return addresses_pb2.ListAddressBlocksResponse(blocks=addresses.timeouts(blocks))

    @override
    async def GetAddressTimeouts(
        self, request: addresses_pb2.GetAddressTimeoutsRequest, context: _Context
    ) -> addresses_pb2.GetAddressTimeoutsResponse:
        timeouts = await get_address_timeouts(request.caller.api_key, request.address, self._deps)
        return addresses_pb2.GetAddressTimeoutsResponse(timeouts=addresses.timeouts(timeouts))

    @override
    async def BlockAddress(
        self, request: addresses_pb2.BlockAddressRequest, context: _Context
    ) -> addresses_pb2.BlockAddressResponse:
        await block_address(request.caller.api_key, request.address, addresses.hours(request), self._deps)
        return addresses_pb2.BlockAddressResponse()

    @override
    async def UnblockAddress(
        self, request: addresses_pb2.UnblockAddressRequest, context: _Context
    ) -> addresses_pb2.UnblockAddressResponse:
        await unblock_address(request.caller.api_key, request.address, self._deps)
        return addresses_pb2.UnblockAddressResponse()

    @override
    async def BlockWorkerAddress(
        self, request: addresses_pb2.BlockWorkerAddressRequest, context: _Context
    ) -> addresses_pb2.BlockWorkerAddressResponse:
        length = addresses.days(request)
        is_blocked = await block_worker_address(request.caller.api_key, request.worker_id, length, self._deps)
        return addresses_pb2.BlockWorkerAddressResponse(blocked=is_blocked)

    @override
    async def UnblockWorkerAddress(
        self, request: addresses_pb2.UnblockWorkerAddressRequest, context: _Context
    ) -> addresses_pb2.UnblockWorkerAddressResponse:
        await unblock_worker_address(request.caller.api_key, request.worker_id, self._deps)
        return addresses_pb2.UnblockWorkerAddressResponse()


def add_to(server: grpc.aio.Server, deps: Deps) -> None:
    """Every service of this process."""
    add_ModerationServiceServicer_to_server(ModerationServicer(deps), server)
    add_FiltersServiceServicer_to_server(FiltersServicer(deps), server)
    add_AddressesServiceServicer_to_server(AddressesServicer(deps), server)
    add_ReviewServiceServicer_to_server(ReviewServicer(deps), server)
    add_ReportsServiceServicer_to_server(ReportsServicer(deps), server)
