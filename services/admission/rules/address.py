"""Which address a request comes from. base-domain 1.6."""

from dataclasses import dataclass
from ipaddress import ip_address

from services.admission.rules.facts import Caller

_STORED = 39
"""Characters of the longest address: the width of the column."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address that is judged and stored."""

    text: str
    proxied: bool


def resolve(caller: Caller, *, is_known_proxy: bool) -> Address:
    """The peer's address, or the forwarded one beside a known passkey, when that is an address at all."""
    if is_known_proxy and caller.proxied_for:
        try:
            forwarded = str(ip_address(caller.proxied_for.strip()))
        except ValueError:
            forwarded = caller.remote_address
        return Address(forwarded[:_STORED], forwarded != caller.remote_address)
    return Address(caller.remote_address[:_STORED], proxied=False)
