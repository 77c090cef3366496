"""A caller on its way to a service."""

from horde_pb.vocabulary.v1.caller_pb2 import Caller as WireCaller
from services.gateway.caller import Caller


def to_wire(caller: Caller) -> WireCaller:
    """The message of a caller."""
    return WireCaller(
        api_key=caller.api_key or "",
        remote_address=caller.remote_address,
        proxied_for=caller.proxied_for,
        proxy_passkey=caller.proxy_passkey,
        client_agent=caller.client_agent,
    )
