"""Who is calling, as far as headers and the socket tell. Nothing here is trusted until a service has looked it up."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from starlette.types import Scope

UNKNOWN_AGENT = "unknown:0:unknown"
"""The agent of a client that sends none. base-domain 1.4."""

UNKNOWN_ADDRESS = "0.0.0.0"  # noqa: S104 - nothing is bound here: the address of a peer that has none, such as a unix socket

_NODE = re.compile(r"\[([0-9A-Za-z:.%]+)\](?::[0-9]{1,5})?|([0-9]+(?:\.[0-9]+){3}):[0-9]{1,5}")
"""An address in brackets, with or without a port, or one of IPv4 with a port."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller. `api_key` is None when no `apikey` header was sent."""

    api_key: str | None
    remote_address: str
    proxied_for: str
    proxy_passkey: str
    client_agent: str


def caller_of(scope: Scope, trusted_hops: int) -> Caller:
    """Reads the headers once. Both spellings of the agent header count; the dashed one wins."""
    api_key: str | None = None
    forwarded: list[str] = []
    proxied_for = passkey = agent = agent_by_underscore = ""
    for name, value in scope["headers"]:
        match name:
            case b"apikey":
                api_key = value.decode("latin-1").strip()
            case b"client-agent":
                agent = value.decode("latin-1").strip()
            case b"client_agent":
                agent_by_underscore = value.decode("latin-1").strip()
            case b"x-forwarded-for":
                forwarded.extend(bare_node(node) for node in value.decode("latin-1").split(","))
            case b"proxied-for":
                proxied_for = bare_node(value.decode("latin-1"))
            case b"proxy-authorization":
                passkey = value.decode("latin-1").strip()
            case _:
                pass
    return Caller(
        api_key=api_key or None,
        remote_address=remote_address(scope, forwarded, trusted_hops),
        proxied_for=proxied_for,
        proxy_passkey=passkey,
        client_agent=agent or agent_by_underscore or UNKNOWN_AGENT,
    )


def remote_address(scope: Scope, forwarded: Sequence[str], trusted_hops: int) -> str:
    """The peer of the outermost of our own proxies: each of them appended the address it saw to `X-Forwarded-For`.

    A shorter header than there are proxies, or one that holds no address, is not believed: the socket's peer counts.
    """
    if trusted_hops and len(forwarded) >= trusted_hops:
        told = normal_address(forwarded[-trusted_hops])
        if told is not None:
            return told
    peer = scope.get("client")
    return (normal_address(peer[0]) if peer else None) or UNKNOWN_ADDRESS


def bare_node(text: str) -> str:
    """A node without the brackets and the port that some proxies write (RFC 7239, section 6)."""
    node = text.strip()
    with_port = _NODE.fullmatch(node)
    return node if with_port is None else with_port[1] or with_port[2]


@lru_cache(maxsize=4096)
def normal_address(text: str) -> str | None:
    """One spelling for each address, IPv4 inside IPv6 as IPv4; None: this is no address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)
