"""Whether an address belongs to the public internet, so that a stranger's URL may make us connect to it."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_TUNNELS = (
    IPv6Network("64:ff9b::/96"),  # NAT64: reaches any IPv4 address, private ones included
    IPv6Network("64:ff9b:1::/48"),  # NAT64 of a local network
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("2001::/32"),  # Teredo
)
"""Forms of IPv6 that carry an IPv4 address which nobody has looked at."""


def is_public(address: str) -> bool:
    """Whether a stranger may make us connect to `address`.

    Not when it is private, loopback, link-local, multicast, reserved, unspecified, shared (carrier-grade NAT), a
    tunnel, or no address at all. An IPv4-mapped IPv6 address counts as its IPv4 address.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return _is_plain(parsed.ipv4_mapped)
        if parsed.is_site_local or any(parsed in tunnel for tunnel in _TUNNELS):
            return False
    return _is_plain(parsed)


def _is_plain(address: IPv4Address | IPv6Address) -> bool:
    odd = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
    return address.is_global and not odd
