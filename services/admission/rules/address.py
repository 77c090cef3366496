"""Which address a request comes from. base-domain 1.6."""

from dataclasses import dataclass
from ipaddress import ip_address

from services.admission.rules.facts import Caller

_STORED = 39
"""Characters of the longest address: the width of the column."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address that is judged and stored, the peer that told it, and the service that speaks for it."""

    text: str
    proxied: bool
    peer: str
    proxy_owner: str = ""


def resolve(caller: Caller, *, proxy_owner: str | None) -> Address:
    """The peer's address, or the forwarded one beside a known passkey, when that is an address at all.

    `proxy_owner`: the alias of the service whose passkey was shown; None without a known one.
    """
    peer = caller.remote_address[:_STORED]
    if proxy_owner is not None and caller.proxied_for:
        forwarded = (_normal(caller.proxied_for.strip()) or caller.remote_address)[:_STORED]
        return Address(forwarded, forwarded != peer, peer, proxy_owner)
    return Address(peer, proxied=False, peer=peer)


def _normal(text: str) -> str | None:
    """One spelling for each address, IPv4 inside IPv6 as IPv4, as the edge spells peers; None: this is no address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return str((address.version == 6 and address.ipv4_mapped) or address)  # noqa: PLR2004 - the number of the protocol
