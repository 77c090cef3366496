"""The subject of an address: what an address counts as when it is remembered, counted or blocked.

moderation.md A2: an IPv4 address is itself, an IPv6 address is its /64, because a /64 is what one customer gets and may
rotate in. What is no address has no subject, and is never counted or blocked; nor has a network of IPv4, not even /32.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_CUSTOMER_BITS = 64
_V6_BITS = 128
_MAPPED = IPv6Network("::ffff:0:0/96")


def ip_subject(origin: str | None) -> str | None:
    """The subject of `origin`, or None. A subject is its own subject."""
    text = (origin or "").strip()
    if not text:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return _network_subject(text)
    if isinstance(address, IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return _customer(int(address))


def _network_subject(text: str) -> str | None:
    try:
        network = IPv6Network(text, strict=False)
    except ValueError:
        return None
    if network.prefixlen < _CUSTOMER_BITS:
        return None
    if network.subnet_of(_MAPPED):
        mapped = IPv6Address(int(network.network_address)).ipv4_mapped
        return str(mapped) if network.prefixlen == _V6_BITS else None
    return _customer(int(network.network_address))


def _customer(address: int) -> str:
    """The /64 of an address given as a number, which has no zone."""
    return str(IPv6Network((address, _CUSTOMER_BITS), strict=False))
