"""A cluster's name server: it tells the addresses of a service's ready pods, and is as late as a caching one may be."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import override

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

type Endpoints = Callable[[str], list[str] | None]
"""The addresses of a service's ready pods, by its name; None: no such service."""

TTL_SECONDS = 5.0
"""What CoreDNS tells of a service by default; it also keeps an answer that long itself."""

PORT = 53_053


class NameServer(asyncio.DatagramProtocol):
    """Answers for the names of services."""

    def __init__(self, endpoints: Endpoints, late_seconds: float) -> None:
        self._endpoints = endpoints
        self._late_seconds = late_seconds
        self._kept: dict[str, tuple[float, list[str] | None]] = {}
        self._transport: asyncio.DatagramTransport | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def serving(cls, address: str, endpoints: Endpoints, late_seconds: float = TTL_SECONDS) -> AsyncIterator[str]:
        """Serves while the block runs, up to so many seconds late; gives its authority for a gRPC target."""
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: cls(endpoints, late_seconds), local_addr=(address, PORT)
        )
        try:
            yield f"{address}:{PORT}"
        finally:
            transport.close()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.DatagramTransport)
        self._transport = transport

    @override
    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        query = dns.message.from_wire(data)
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.AA
        (question,) = query.question
        addresses = self._look_up(question.name.to_text(omit_final_dot=True))
        if addresses is None:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif question.rdtype == dns.rdatatype.A and addresses:
            answer.answer.append(dns.rrset.from_text_list(question.name, int(TTL_SECONDS), "IN", "A", addresses))
        assert self._transport is not None
        self._transport.sendto(answer.to_wire(), addr)

    def _look_up(self, name: str) -> list[str] | None:
        kept_until, addresses = self._kept.get(name, (0.0, None))
        if time.monotonic() >= kept_until:
            addresses = self._endpoints(name)
            self._kept[name] = (time.monotonic() + self._late_seconds, addresses)
        return addresses
