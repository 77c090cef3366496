"""The subject of an address: what an address counts as when it is remembered, counted or blocked.

moderation.md A2: an IPv4 address is itself, an IPv6 address is its /64, because a /64 is what one customer gets and may
rotate in. What is no address has no subject, and is never counted or blocked; nor has a network of IPv4, not even /32.
"""

import hashlib
import hmac
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_CUSTOMER_BITS = 64
_V6_BITS = 128
_MAPPED = IPv6Network("::ffff:0:0/96")

_LABEL = b"moderation:ip-subject:v1\x00"
"""Keeps this use of the secret apart from any other. No subject holds a NUL, so label and subject stay apart."""

_KNOWN_SECRETS = frozenset({"", "changeme", "s0m3s3cr3t", "change-me-before-anyone-else-uses-this"})
"""Values of examples, ours too, and fallbacks: everybody could compute the pseudonyms."""


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


def has_real_secret(secret: str | None) -> bool:
    """Whether pseudonyms can be made at all."""
    return secret is not None and secret not in _KNOWN_SECRETS


def ip_subject_key(subject: str | None, secret: str | None) -> str | None:
    """The pseudonym of a subject: 64 lower-case hex digits; None without a subject or a real secret."""
    if subject is None or secret is None or not has_real_secret(secret):
        return None
    return hmac.new(secret.encode(), _LABEL + subject.encode(), hashlib.sha256).hexdigest()
