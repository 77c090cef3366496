"""Requests whose client is gone and may come back through any gateway: whichever finds one first has it.

Contract: clients-and-front 3.9 and 3.10, decision 27a. A call may also be repeated before its first connection is known
to be broken; so the gateways through which somebody waits for a request that may be repeated are kept as well. Redis is
asked only when a connection breaks before its answer, when a call is repeated and for a call with an Idempotency-Key.
Best effort: without Redis a repeated call finds its request in the gateway of its first try alone.
"""

from datetime import timedelta
from typing import cast
from uuid import uuid4

from horde.live import Key, Live, LiveUnavailable, Script
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
WAITING = Key(
    "horde:front:waiting:{request}",
    kind="set",
    ttl=timedelta(seconds=600 + _SPARE_SECONDS),  # with the usual HORDE_FRONT_STREAM_BUDGET_SECONDS
    owner="gateway",
    if_lost="a gateway that lost its client cancels the request although a client of another waits for it",
)


class Orphans:
    """What all gateways know of them. Never raises: what Redis can't tell is unknown.

    `longest`: seconds that somebody may wait for a request.
    """

    def __init__(self, live: Live, longest: float) -> None:
        self._live = live
        self._longest = timedelta(seconds=longest + _SPARE_SECONDS)
        self._gateway = uuid4().hex
        self._give_up = Script(live, "services.gateway", "give_up_orphan")

    async def join(self, request_id: str) -> None:
        """Notes that a client of this gateway waits for a request that other gateways may know."""
        waiting = WAITING(request=request_id)
        try:
            with self._live.guard("SADD") as redis:
                async with redis.pipeline(transaction=True) as all_three:
                    all_three.sadd(waiting, self._gateway)
                    all_three.pexpire(waiting, self._longest)
                    all_three.delete(ORPHAN(request=request_id))
                    await all_three.execute()
        except LiveUnavailable as away:
            log.warning("waiting not noted", request=request_id, why=str(away))

    async def leave(self, request_id: str, created: int, fingerprint: bytes | None, grace: float) -> bool:
        """Notes that the request's last client here is gone, for `grace` seconds and some; whether it could be noted.

        `created` in Unix seconds. With a fingerprint a repeat of the call can find it.
        """
        lifetime = timedelta(seconds=grace + _SPARE_SECONDS)
        try:
            with self._live.guard("SET") as redis:
                async with redis.pipeline(transaction=True) as all_three:
                    all_three.srem(WAITING(request=request_id), self._gateway)
                    all_three.set(ORPHAN(request=request_id), self._gateway, px=lifetime)
                    if fingerprint is not None:
                        all_three.set(RETRY(fingerprint=fingerprint.hex()), f"{request_id} {created}", px=lifetime)
                    await all_three.execute()
        except LiveUnavailable as away:
            log.warning("orphan not noted", request=request_id, why=str(away))
            return False
        return True

    async def give_up(self, request_id: str) -> bool | None:
        """Whether a request that was left here is this gateway's to cancel; False: somebody waits; None: unknown."""
        keys = [ORPHAN(request=request_id), WAITING(request=request_id)]
        try:
            return bool(await self._give_up(keys=keys, args=[self._gateway]))
        except LiveUnavailable:
            return None

    async def find(self, fingerprint: bytes) -> tuple[str, int] | None:
        """The id and the creation, in Unix seconds, of the request that an earlier try left; it is taken over."""
        try:
            with self._live.guard("GET") as redis:
                noted = cast("bytes | None", await redis.get(RETRY(fingerprint=fingerprint.hex())))
                if noted is None:
                    return None
                request_id, created = noted.decode().split(" ")
                if not await redis.delete(ORPHAN(request=request_id)):
                    return None
        except LiveUnavailable:
            return None
        await self.join(request_id)
        return request_id, int(created)
