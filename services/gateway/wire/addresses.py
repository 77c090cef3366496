"""Addresses that are kept out, as moderators see and decide it. base-domain 9."""

from collections.abc import Iterable

import orjson

from horde.contract import limits
from horde_pb.moderation.v1 import addresses_pb2 as pb
from services.gateway.answers import Answer
from services.gateway.caller import Caller
from services.gateway.wire.callers import to_wire
from services.gateway.wire.fields import Fields

DONE = Answer(b'{"message":"OK"}')


def list_request(caller: Caller) -> pb.ListAddressBlocksRequest:
    """The message that asks for every block."""
    return pb.ListAddressBlocksRequest(caller=to_wire(caller))


def get_request(address: str, caller: Caller) -> pb.GetAddressTimeoutsRequest:
    """The message that asks what keeps one address out."""
    return pb.GetAddressTimeoutsRequest(caller=to_wire(caller), address=address)


def block_request(body: dict[str, object], caller: Caller) -> pb.BlockAddressRequest:
    """The message that keeps one out. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    fields.require("ipaddr", "hours")
    hours = fields.whole("hours", least=1, most=limits.MAX_ADDRESS_BLOCK_HOURS)
    ask = pb.BlockAddressRequest(caller=to_wire(caller), address=_address(fields), hours=hours or 0)
    fields.check()
    return ask


def unblock_request(body: dict[str, object], caller: Caller) -> pb.UnblockAddressRequest:
    """The message that lets one in again. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    fields.require("ipaddr")
    ask = pb.UnblockAddressRequest(caller=to_wire(caller), address=_address(fields))
    fields.check()
    return ask


def block_worker_request(worker_id: str, body: dict[str, object], caller: Caller) -> pb.BlockWorkerAddressRequest:
    """The message that keeps a worker's address out. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    fields.require("days")
    days = fields.whole("days", least=1, most=limits.MAX_WORKER_BLOCK_DAYS)
    ask = pb.BlockWorkerAddressRequest(caller=to_wire(caller), worker_id=worker_id, days=days or 0)
    fields.check()
    return ask


def unblock_worker_request(worker_id: str, caller: Caller) -> pb.UnblockWorkerAddressRequest:
    """The message that lets a worker's address in again."""
    return pb.UnblockWorkerAddressRequest(caller=to_wire(caller), worker_id=worker_id)


def timeouts_answer(timeouts: Iterable[pb.AddressTimeout]) -> Answer:
    """What is kept out, and for how many seconds still."""
    return Answer(orjson.dumps([{"ipaddr": one.address, "seconds": one.seconds} for one in timeouts]))


def worker_answer(done: pb.BlockWorkerAddressResponse) -> Answer:
    """OK also when what is recorded of the worker is no address; `blocked` tells it."""
    return Answer(orjson.dumps({"message": "OK", "blocked": done.blocked}))


def _address(fields: Fields) -> str:
    """The address; empty when it is absent or wrong, which `check` reports."""
    text = fields.text("ipaddr", longest=limits.MAX_ADDRESS_LENGTH) or ""
    if fields.has("ipaddr") and len(text) < limits.MIN_ADDRESS_LENGTH:
        fields.wrong("ipaddr", f"is too short: at least {limits.MIN_ADDRESS_LENGTH} characters")
    return text
