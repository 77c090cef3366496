"""The filters that prompts are judged by, as moderators write them."""

from horde.contract import reasons
from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operating import FILTER_TYPE
from services.gateway.documents.operations import Key, described
from services.gateway.documents.shapes import TEXT, array, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import filters

_MAX_BODY = 2 * 1024 * 1024
"""Bytes: the longest prompt that a worker could be sent as text, to be tried."""

_ALL = "/v2/filters"
_ONE = "/v2/filters/{id}"


async def list_filters(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The filters as they are stored."""
    message = filters.list_request(ask.query(), ask.caller)
    ask.api_key()
    return filters.list_answer(await deps.neighbours.operations.list_filters(message))


async def create(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator writes a filter."""
    message = filters.create_request(await ask.object(_MAX_BODY), ask.caller)
    ask.api_key()
    return filters.one_answer((await deps.neighbours.operations.create_filter(message)).filter)


async def match(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator tries a text."""
    message = filters.match_request(await ask.object(_MAX_BODY), ask.caller)
    ask.api_key()
    return filters.match_answer(await deps.neighbours.operations.match_filters(message))


async def compiled(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The filters as they are in force."""
    message = filters.compiled_request(ask.query(), ask.caller)
    ask.api_key()
    return filters.compiled_answer(await deps.neighbours.operations.list_compiled_filters(message))


async def one(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One filter."""
    ask.api_key()
    message = filters.get_request(ask.parameter("id"), ask.caller)
    return filters.one_answer((await deps.neighbours.operations.get_filter(message)).filter)


async def update(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator changes a filter."""
    message = filters.update_request(ask.parameter("id"), await ask.object(_MAX_BODY), ask.caller)
    ask.api_key()
    return filters.one_answer((await deps.neighbours.operations.update_filter(message)).filter)


async def delete(deps: GatewayDeps, ask: Exchange) -> Answer:
    """A moderator removes a filter."""
    ask.api_key()
    await deps.neighbours.operations.delete_filter(filters.delete_request(ask.parameter("id"), ask.caller))
    return filters.DELETED


_TYPE = {"filter_type": FILTER_TYPE}

OPERATIONS = (
    Operation(
        "GET",
        _ALL,
        list_filters,
        Budget.DEFAULT,
        described(
            "The filters, by type and by what their regex or description holds.",
            key=Key.REQUIRED,
            query={**_TYPE, "contains": TEXT},
            answers={200: array(ref("Filter"))},
            refuses=[reasons.NOT_MODERATOR, reasons.NUL_BYTE_IN_PAYLOAD],
        ),
        private=True,
    ),
    Operation(
        "PUT",
        _ALL,
        create,
        Budget.DEFAULT,
        described(
            "Write a filter. One with the same regex and type is answered as it is.",
            key=Key.REQUIRED,
            body="NewFilter",
            answers={200: ref("Filter")},
            refuses=[reasons.NOT_MODERATOR, reasons.NUL_BYTE_IN_PAYLOAD],
        ),
        private=True,
    ),
    Operation(
        "POST",
        _ALL,
        match,
        Budget.DEFAULT,
        described(
            "What the filters find in a text. Nothing is recorded.",
            key=Key.REQUIRED,
            body="FilterTrial",
            answers={200: ref("FilterFindings")},
            refuses=[reasons.NOT_MODERATOR],
        ),
        private=True,
    ),
    Operation(
        "GET",
        "/v2/filters/regex",
        compiled,
        Budget.DEFAULT,
        described(
            "The filters as they are in force, joined by type.",
            key=Key.REQUIRED,
            query=_TYPE,
            answers={200: array(ref("CompiledFilter"))},
            refuses=[reasons.NOT_MODERATOR],
        ),
        private=True,
    ),
    Operation(
        "GET",
        _ONE,
        one,
        Budget.DEFAULT,
        described(
            "One filter.",
            key=Key.REQUIRED,
            answers={200: ref("Filter")},
            refuses=[reasons.NOT_MODERATOR, reasons.FILTER_NOT_FOUND],
        ),
        private=True,
    ),
    Operation(
        "PATCH",
        _ONE,
        update,
        Budget.DEFAULT,
        described(
            "Change a filter. Empty values change nothing.",
            key=Key.REQUIRED,
            body="FilterChange",
            answers={200: ref("Filter")},
            refuses=[
                reasons.NOT_MODERATOR,
                reasons.FILTER_NOT_FOUND,
                reasons.NO_FILTER_MOD_SELECTED,
                reasons.NUL_BYTE_IN_PAYLOAD,
            ],
        ),
        private=True,
    ),
    Operation(
        "DELETE",
        _ONE,
        delete,
        Budget.DEFAULT,
        described(
            "Remove a filter.",
            key=Key.REQUIRED,
            answers={200: ref("Done")},
            refuses=[reasons.NOT_MODERATOR, reasons.FILTER_NOT_FOUND],
        ),
        private=True,
    ),
)
