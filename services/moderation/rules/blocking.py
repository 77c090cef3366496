"""What a moderator means by an address to keep out. base-domain 9, moderation.md A2 and A6."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network

from horde.contract import reasons
from horde.contract.ip_subject import ip_subject
from horde.contract.refusal import Refusal
from services.moderation.rules.ip_subject import blocks_around

_MAPPED = IPv6Network("::ffff:0:0/96")


@dataclass(frozen=True, slots=True)
class Single:
    """One address, by its subject."""

    subject: str


@dataclass(frozen=True, slots=True)
class Network:
    """A network in canonical form."""

    cidr: str

    @property
    def subject(self) -> str | None:
        """The subject that it is itself, of an IPv6 /64: one address of it is kept out as all of it."""
        return self.cidr if ip_subject(self.cidr) == self.cidr else None


type Target = Single | Network


@dataclass(frozen=True, slots=True)
class KeptOut:
    """What is kept out, and for how many seconds still."""

    address: str
    seconds: int


def target(text: str) -> Target:
    """A network when there is a slash, else one address. Raises Refusal(BadRequest) for anything else.

    Bits behind the prefix are refused: `1.2.3.4/24` is more often a slip than a wish for the whole /24.
    """
    given = text.strip()
    if "/" not in given:
        subject = ip_subject(given)
        if subject is None:
            raise _no_address(given)
        return Single(subject)
    try:
        return Network(_as_looked_up(ip_network(given)))
    except ValueError:
        raise _no_address(given) from None


def target_of_subject(subject: str) -> Target:
    """A subject as it is kept out: an IPv6 /64 is a network, an IPv4 address a single one."""
    return Network(subject) if "/" in subject else Single(subject)


def around(text: str) -> tuple[tuple[str, ...], str | None]:
    """Every network that an address or a network lies in, the narrowest first; and the subject, if it has one.

    Raises Refusal(BadRequest).
    """
    match target(text):
        case Single(subject=subject):
            return blocks_around(text), subject
        case Network(cidr=cidr, subject=subject):
            network = ip_network(cidr)
            return tuple(str(network.supernet(new_prefix=bits)) for bits in range(network.prefixlen, -1, -1)), subject


def _as_looked_up(network: IPv4Network | IPv6Network) -> str:
    """Addresses of IPv4 inside IPv6 are looked up as IPv4, so their networks are kept as such."""
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        inner = IPv6Address(int(network.network_address)).ipv4_mapped
        return f"{inner}/{network.prefixlen - _MAPPED.prefixlen}"
    return str(network)


def _no_address(text: str) -> Refusal:
    return Refusal(reasons.BAD_REQUEST, f"'{text[:50]}' is no IP address and no network in CIDR notation.")
