"""What moderation makes of an address: its blocks, and what is kept of an origin that has no subject.

The subject itself and its pseudonym are `horde.contract.ip_subject`.
"""

from contextlib import suppress
from ipaddress import IPv6Address, ip_network

from horde.contract.ip_subject import ip_subject

_LONGEST_ORIGIN = 255


def origin_text(origin: str | None) -> str | None:
    """What is kept of an origin that has no subject: its text, cut to 255 characters; None when it is blank."""
    text = (origin or "").strip()
    if not text or ip_subject(text) is not None:
        return None
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")[:_LONGEST_ORIGIN]


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
