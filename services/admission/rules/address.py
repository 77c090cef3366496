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
        forwarded = _normal(caller.proxied_for.strip()) or caller.remote_address
        return Address(forwarded[:_STORED], forwarded != caller.remote_address)
    return Address(caller.remote_address[:_STORED], proxied=False)


def _normal(text: str) -> str | None:
    """One spelling for each address, IPv4 inside IPv6 as IPv4, as the edge spells peers; None: this is no address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return str((address.version == 6 and address.ipv4_mapped) or address)  # noqa: PLR2004 - the number of the protocol
