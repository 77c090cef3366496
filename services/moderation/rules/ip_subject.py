"""What moderation makes of an address' subject: its pseudonym, its blocks, and what is kept of an origin that has none.

The subject itself is `horde.contract.ip_subject`: the edge has to tell an address that is one from one that is none.
"""

import hashlib
import hmac
from contextlib import suppress
from ipaddress import IPv6Address, ip_network

from horde.contract.ip_subject import ip_subject as ip_subject  # noqa: PLC0414 - the rules' own readers find it here

_LABEL = b"moderation:ip-subject:v1\x00"
"""Keeps this use of the secret apart from any other. No subject holds a NUL, so label and subject stay apart."""

_KNOWN_SECRETS = frozenset({"", "changeme", "s0m3s3cr3t"})
"""Values of examples and fallbacks: everybody could compute the pseudonyms."""

_LONGEST_ORIGIN = 255


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
