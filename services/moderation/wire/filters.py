"""Filters: between the proto and the words of the domain."""

from collections.abc import Iterable, Mapping

from horde_pb.moderation.v1 import filters_pb2 as pb
from services.moderation.rules.filters import Filter, FilterChange, FilterDraft


def kind(request: pb.ListFiltersRequest | pb.MatchFiltersRequest | pb.ListCompiledFiltersRequest) -> int | None:
    """The one type that is asked for; None: any."""
    return request.filter_type if request.HasField("filter_type") else None


def draft(request: pb.CreateFilterRequest) -> FilterDraft:
    """A filter that does not exist yet."""
    return FilterDraft(
        regex=request.regex,
        kind=request.filter_type,
        description=request.description if request.HasField("description") else None,
        replacement=request.replacement,
    )


def change(request: pb.UpdateFilterRequest) -> FilterChange:
    """What is to be different. Empty values ask for nothing (base-domain 8.5)."""
    return FilterChange(
        regex=request.regex or None,
        kind=request.filter_type or None,
        description=request.description or None,
        replacement=request.replacement or None,
    )


def one(known: Filter) -> pb.Filter:
    """A filter."""
    return pb.Filter(
        id=known.id,
        regex=known.regex,
        filter_type=known.kind,
        description=known.description,
        replacement=known.replacement,
        user=known.user or "",
    )


def listed(known: Iterable[Filter]) -> pb.ListFiltersResponse:
    """Filters."""
    return pb.ListFiltersResponse(filters=[one(each) for each in known])


def compiled(patterns: Mapping[int, str]) -> pb.ListCompiledFiltersResponse:
    """The pattern of each type."""
    return pb.ListCompiledFiltersResponse(
        compiled=[pb.CompiledFilters(filter_type=kind, regex=regex) for kind, regex in sorted(patterns.items())]
    )
