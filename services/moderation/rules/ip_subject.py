"""The subject of an address: what an address counts as when it is remembered, counted or blocked.

moderation.md A2, base-domain 7.5: an IPv4 address is itself, an IPv6 address is its /64, because a /64 is what one
customer gets and may rotate in. What is no address has no subject, and is never counted or blocked.
"""

import hashlib
import hmac
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

_CUSTOMER_BITS = 64
_V6_BITS = 128
_MAPPED = IPv6Network("::ffff:0:0/96")
_LABEL = b"moderation:ip-subject:v1\x00"
"""Keeps this use of the secret apart from any other. No subject holds a NUL, so label and subject stay apart."""

_KNOWN_SECRETS = frozenset({"", "changeme", "s0m3s3cr3t"})
"""Values of examples and fallbacks: everybody could compute the pseudonyms."""

_LONGEST_ORIGIN = 255


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


def origin_text(origin: str | None) -> str | None:
    """What is kept of an origin that has no subject: its text, cut to 255 characters; None when it is blank."""
    text = (origin or "").strip()
    if not text or ip_subject(text) is not None:
        return None
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:_LONGEST_ORIGIN]


def has_real_secret(secret: str | None) -> bool:
    """Whether pseudonyms can be made at all."""
    return secret is not None and secret not in _KNOWN_SECRETS


def ip_subject_key(subject: str | None, secret: str | None) -> str | None:
    """The pseudonym of a subject: 64 lower-case hex digits; None without a subject or a real secret."""
    if subject is None or secret is None or not has_real_secret(secret):
        return None
    return hmac.new(secret.encode(), _LABEL + subject.encode(), hashlib.sha256).hexdigest()


def blocks_around(origin: str | None) -> tuple[str, ...]:
    """Every network that `origin` lies in, by its canonical text, from the narrowest to the whole internet.

    A blocked network is found by asking for these names, at most 129, so no key has to be searched for. Empty when
    the origin has no subject.
    """
    subject = ip_subject(origin)
    if subject is None:
        return ()
    narrowest = ip_network(subject)
    if narrowest.version == 6:  # noqa: PLR2004 - a block may be narrower than the /64 that is the subject
        with suppress(ValueError):
            narrowest = ip_network(int(IPv6Address((origin or "").strip())))
    return tuple(str(narrowest.supernet(new_prefix=bits)) for bits in range(narrowest.prefixlen, -1, -1))


def _network_subject(text: str) -> str | None:
    try:
        network = IPv6Network(text, strict=False)
    except ValueError:
        return _single_v4(text)
    if network.prefixlen < _CUSTOMER_BITS:
        return None
    if network.subnet_of(_MAPPED):
        mapped = IPv6Address(int(network.network_address)).ipv4_mapped
        return str(mapped) if network.prefixlen == _V6_BITS else None
    return _customer(int(network.network_address))


def _single_v4(text: str) -> str | None:
    """`1.2.3.4/32` is how base-domain 7.5 also writes one address; moderation.md would keep it as text."""
    address, slash, bits = text.partition("/")
    if not slash or bits != "32":
        return None
    try:
        return str(IPv4Address(address))
    except ValueError:
        return None


def _customer(address: int) -> str:
    """The /64 of an address given as a number, which has no zone."""
    return str(IPv6Network((address, _CUSTOMER_BITS), strict=False))
