"""The shapes of what operators write: filters, addresses, modes; as JSON Schema."""

from collections.abc import Mapping

from horde.contract import limits
from services.gateway.documents.shapes import FLAG, TEXT, TEXTS, WHOLE, Schema, maybe, shape, whole

FILTER_TYPE = whole(limits.MIN_FILTER_TYPE, limits.MAX_FILTER_TYPE)
_REGEX: Schema = {"type": "string", "minLength": 1, "maxLength": limits.MAX_FILTER_REGEX_LENGTH}
_NOTE: Schema = {"type": "string", "maxLength": limits.MAX_FILTER_NOTE_LENGTH}
_ADDRESS: Schema = {
    "type": "string",
    "minLength": limits.MIN_ADDRESS_LENGTH,
    "maxLength": limits.MAX_ADDRESS_LENGTH,
    "description": "An IPv4 or IPv6 address, or a network in CIDR notation.",
}

OPERATING: Mapping[str, Schema] = {
    "Filter": shape(
        ("id", "regex", "filter_type", "replacement", "user"),
        id=TEXT,
        regex=TEXT,
        filter_type=FILTER_TYPE,
        description=maybe(TEXT),
        replacement={"type": "string", "description": "Of type 10: what is put in place of a match."},
        user={"type": "string", "description": "The alias of who wrote it."},
    ),
    "NewFilter": shape(
        ("regex", "filter_type"), regex=_REGEX, filter_type=FILTER_TYPE, description=_NOTE, replacement=_NOTE
    ),
    "FilterChange": shape(regex=_REGEX, filter_type=FILTER_TYPE, description=_NOTE, replacement=_NOTE),
    "FilterTrial": shape(("prompt",), prompt=TEXT, filter_type=FILTER_TYPE),
    "FilterFindings": shape(
        ("suspicion", "matches"),
        suspicion={"type": "integer", "description": "Groups of filters that found something; 2 are a rejection."},
        matches=TEXTS,
    ),
    "CompiledFilter": shape(("filter_type", "regex"), filter_type=FILTER_TYPE, regex=TEXT),
    "AddressTimeout": shape(("ipaddr", "seconds"), ipaddr=TEXT, seconds=WHOLE),
    "NewAddressTimeout": shape(("ipaddr", "hours"), ipaddr=_ADDRESS, hours=whole(1, limits.MAX_ADDRESS_BLOCK_HOURS)),
    "AddressToFree": shape(("ipaddr",), ipaddr=_ADDRESS),
    "WorkerTimeout": shape(("days",), days=whole(1, limits.MAX_WORKER_BLOCK_DAYS)),
    "WorkerBlocked": shape(
        ("message", "blocked"),
        message=TEXT,
        blocked={"type": "boolean", "description": "False: what is recorded of the worker is no address."},
    ),
    "ModesChange": shape(maintenance_mode=FLAG, invite_only_mode=FLAG, raid_mode=FLAG),
    "Done": shape(("message",), message=TEXT),
}
