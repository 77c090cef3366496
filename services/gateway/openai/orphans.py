"""Requests whose client is gone and may come back through any gateway: whichever finds one first has it.

Contract: clients-and-front 3.9 and 3.10, decision 27a. Redis is asked only when a connection breaks before its answer
and when a call is repeated, so a call that goes well costs nothing here. Best effort: without Redis a repeated call
finds its request in the gateway of its first try alone.
"""

from datetime import timedelta
from typing import cast

from horde.live import Key, Live, LiveUnavailable
from horde.telemetry import logs

log = logs.get(__name__)

_SPARE_SECONDS = 60.0
"""A record outlives the grace, so that who waits it out learns whether another gateway took the request over."""

_TTL = timedelta(seconds=30 + _SPARE_SECONDS)
"""With the usual grace, HORDE_FRONT_ABANDONED_SECONDS."""

ORPHAN = Key(
    "horde:front:orphan:{request}",
    kind="string",
    ttl=_TTL,
    owner="gateway",
    if_lost="nobody cancels the request of a client that is gone; it is served and paid",
)
RETRY = Key(
    "horde:front:retry:{fingerprint}",
    kind="string",
    ttl=_TTL,
    owner="gateway",
    if_lost="a retry that reaches another gateway than its first try queues a second request",
)


class Orphans:
    """What all gateways know of them. Never raises: what Redis can't tell is unknown."""

    def __init__(self, live: Live) -> None:
        self._live = live

    async def leave(self, request_id: str, created: int, fingerprint: bytes | None, grace: float) -> bool:
        """Notes that the request's last client here is gone, for `grace` seconds and some; whether it could be noted.

        `created` in Unix seconds. With a fingerprint a repeat of the call can find it.
        """
        lifetime = timedelta(seconds=grace + _SPARE_SECONDS)
        try:
            with self._live.guard("SET") as redis:
                async with redis.pipeline(transaction=True) as both:
                    both.set(ORPHAN(request=request_id), b"", px=lifetime)
                    if fingerprint is not None:
                        both.set(RETRY(fingerprint=fingerprint.hex()), f"{request_id} {created}", px=lifetime)
                    await both.execute()
        except LiveUnavailable as away:
            log.warning("orphan not noted", request=request_id, why=str(away))
            return False
        return True

    async def adopt(self, request_id: str) -> bool | None:
        """Takes one over; False: it is none, or another gateway has it; None: unknown."""
        try:
            with self._live.guard("DEL") as redis:
                return bool(await redis.delete(ORPHAN(request=request_id)))
        except LiveUnavailable:
            return None

    async def find(self, fingerprint: bytes) -> tuple[str, int] | None:
        """The id and the creation, in Unix seconds, of the request that an earlier try left; it is taken over."""
        try:
            with self._live.guard("GET") as redis:
                noted = cast("bytes | None", await redis.get(RETRY(fingerprint=fingerprint.hex())))
        except LiveUnavailable:
            return None
        if noted is None:
            return None
        request_id, created = noted.decode().split(" ")
        return (request_id, int(created)) if await self.adopt(request_id) else None
