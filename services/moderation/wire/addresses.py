"""Blocks and timeouts of addresses: between the proto and the words of the domain."""

from collections.abc import Iterable
from datetime import timedelta

from horde_pb.moderation.v1.addresses_pb2 import AddressTimeout, BlockAddressRequest, BlockWorkerAddressRequest
from services.moderation.rules.blocking import KeptOut


def hours(request: BlockAddressRequest) -> timedelta:
    """For how long an address is to stay out."""
    return timedelta(hours=request.hours)


def days(request: BlockWorkerAddressRequest) -> timedelta:
    """For how long a worker's address is to stay out."""
    return timedelta(days=request.days)


def timeouts(kept_out: Iterable[KeptOut]) -> list[AddressTimeout]:
    """What keeps addresses out."""
    return [AddressTimeout(address=one.address, seconds=one.seconds) for one in kept_out]
