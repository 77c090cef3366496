"""What the gateway asks for operators (filters, addresses, modes), which of it may be repeated, and for how long."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from horde.rpc.client import Neighbour
from horde_pb.moderation.v1 import addresses_pb2 as addresses
from horde_pb.moderation.v1 import addresses_pb2_grpc as addresses_grpc
from horde_pb.moderation.v1 import filters_pb2 as filters
from horde_pb.moderation.v1 import filters_pb2_grpc as filters_grpc
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation
from horde_pb.moderation.v1 import moderation_service_pb2_grpc as moderation_grpc

_READ = timedelta(seconds=5)
_WRITE = timedelta(seconds=15)

type _Call[Ask, Answer] = Callable[[Ask], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class OperationCalls:
    """Every call of these families. All raise Refusal or NeighbourUnavailable."""

    list_filters: _Call[filters.ListFiltersRequest, filters.ListFiltersResponse]
    create_filter: _Call[filters.CreateFilterRequest, filters.CreateFilterResponse]
    match_filters: _Call[filters.MatchFiltersRequest, filters.MatchFiltersResponse]
    list_compiled_filters: _Call[filters.ListCompiledFiltersRequest, filters.ListCompiledFiltersResponse]
    get_filter: _Call[filters.GetFilterRequest, filters.GetFilterResponse]
    update_filter: _Call[filters.UpdateFilterRequest, filters.UpdateFilterResponse]
    delete_filter: _Call[filters.DeleteFilterRequest, filters.DeleteFilterResponse]
    list_address_blocks: _Call[addresses.ListAddressBlocksRequest, addresses.ListAddressBlocksResponse]
    get_address_timeouts: _Call[addresses.GetAddressTimeoutsRequest, addresses.GetAddressTimeoutsResponse]
    block_address: _Call[addresses.BlockAddressRequest, addresses.BlockAddressResponse]
    unblock_address: _Call[addresses.UnblockAddressRequest, addresses.UnblockAddressResponse]
    block_worker_address: _Call[addresses.BlockWorkerAddressRequest, addresses.BlockWorkerAddressResponse]
    unblock_worker_address: _Call[addresses.UnblockWorkerAddressRequest, addresses.UnblockWorkerAddressResponse]
    set_modes: _Call[moderation.SetModesRequest, moderation.SetModesResponse]


def operation_calls(to_moderation: Neighbour) -> OperationCalls:
    """The calls, over a channel that is open."""
    judging = filters_grpc.FiltersServiceStub(to_moderation.channel)
    keeping_out = addresses_grpc.AddressesServiceStub(to_moderation.channel)
    modes = moderation_grpc.ModerationServiceStub(to_moderation.channel)
    repeatable = to_moderation.repeatable
    return OperationCalls(
        list_filters=repeatable(judging.ListFilters, deadline=_READ),
        create_filter=repeatable(judging.CreateFilter, deadline=_WRITE),
        match_filters=repeatable(judging.MatchFilters, deadline=_READ),
        list_compiled_filters=repeatable(judging.ListCompiledFilters, deadline=_READ),
        get_filter=repeatable(judging.GetFilter, deadline=_READ),
        update_filter=repeatable(judging.UpdateFilter, deadline=_WRITE),
        # Once: a repeat finds nothing any more.
        delete_filter=to_moderation.once(judging.DeleteFilter, deadline=_WRITE),
        list_address_blocks=repeatable(keeping_out.ListAddressBlocks, deadline=_READ),
        get_address_timeouts=repeatable(keeping_out.GetAddressTimeouts, deadline=_READ),
        block_address=repeatable(keeping_out.BlockAddress, deadline=_WRITE),
        unblock_address=repeatable(keeping_out.UnblockAddress, deadline=_WRITE),
        block_worker_address=repeatable(keeping_out.BlockWorkerAddress, deadline=_WRITE),
        unblock_worker_address=repeatable(keeping_out.UnblockWorkerAddress, deadline=_WRITE),
        set_modes=repeatable(modes.SetModes, deadline=_WRITE),
    )
