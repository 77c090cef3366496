"""Which address a request comes from. base-domain 1.6."""

from dataclasses import dataclass
from ipaddress import ip_address

from services.admission.rules.facts import Caller

_LONGEST = 39
"""Characters of the longest address."""

_TEXT = 255
"""Characters of a text in an address's place that are kept (MAX_ORIGIN_TEXT_CHARACTERS)."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address that is judged and stored, the peer that told it, and the service that speaks for it."""

    text: str
    proxied: bool
    peer: str
    proxy_owner: str = ""


def resolve(caller: Caller, *, proxy_owner: str | None) -> Address:
    """The peer's address, or what is forwarded beside a known passkey.

    That may be no address: then it is nobody's, is never put out, and is kept as text. In no case it counts
    against the service that speaks for its users.

    `proxy_owner`: the alias of the service whose passkey was shown; None without a known one.
    """
    peer = caller.remote_address[:_LONGEST]
    told = caller.proxied_for.strip()
    if proxy_owner is not None and told:
        forwarded = _normal(told) or told[:_TEXT]
        return Address(forwarded, forwarded != peer, peer, proxy_owner)
    return Address(peer, proxied=False, peer=peer)


def _normal(text: str) -> str | None:
    """One spelling for each address, IPv4 inside IPv6 as IPv4, as the edge spells peers; None: this is no address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return str((address.version == 6 and address.ipv4_mapped) or address)  # noqa: PLR2004 - the number of the protocol
