"""Every use that moderation makes of Redis: who is out, for how long, and what was counted against whom."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import cast

from horde.contract.ip_subject import ip_subject
from horde.live import Key, Live, Script
from services.moderation.rules.blocking import KeptOut, Network, Single, Target
from services.moderation.rules.ip_subject import blocks_around
from services.moderation.rules.timeouts import NO_LIMIT, REJECTION_WINDOW, SUSPICION_MEMORY, Leniency, timeout_after

SUSPICION = Key(
    "horde:moderation:suspicion:{subject}",
    kind="string",
    ttl=SUSPICION_MEMORY,
    owner="moderation",
    if_lost="the next timeout of the address is as short as the first",
)
TIMEOUT = Key(
    "horde:moderation:timeout:{subject}",
    kind="string",
    ttl=timedelta(hours=720),  # the longest that a moderator may set; most are minutes
    owner="moderation",
    if_lost="the address may send prompts again before its time",
)
BLOCKS = Key(
    "horde:moderation:address_blocks",
    kind="hash",
    ttl=None,  # each field holds its own end; ended ones are removed by the next block
    owner="moderation",
    if_lost="moderators have to block the networks again",
)
MODEL_REJECTIONS = Key(
    "model_rejections:{subject}",
    kind="string",
    ttl=REJECTION_WINDOW,
    owner="moderation",
    if_lost="a subject gets its free model rejections of the hour again",
)
MODEL_REJECTION_NOTICE = Key(
    "model_rejection_notice:{subject}",
    kind="string",
    ttl=REJECTION_WINDOW,
    owner="moderation",
    if_lost="moderators may be told of a subject twice in an hour",
)
PROXY_SUSPICION = Key(
    "horde:moderation:proxy_suspicion:{subject}",
    kind="string",
    ttl=REJECTION_WINDOW,
    owner="moderation",
    if_lost="the rejections that came through a proxy are counted from the beginning",
)


class Addresses:
    """The standing of addresses. Every method raises LiveUnavailable."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._report = Script(live, "services.moderation", "report_suspicion")
        self._count = Script(live, "services.moderation", "count_rejection")
        self._block = Script(live, "services.moderation", "block_network")

    async def seconds_left(self, origin: str, now: datetime) -> int:
        """Seconds until the origin may come back: by its subject, else by the longest block around it; 0: it may."""
        subject = ip_subject(origin)
        if subject is None:
            return 0
        with self._live.guard("PTTL HMGET") as redis:
            pipeline = redis.pipeline(transaction=False)
            pipeline.pttl(TIMEOUT(subject=subject))
            pipeline.hmget(BLOCKS(), list(blocks_around(origin)))
            own, ends = cast("tuple[int, list[bytes | None]]", tuple(await pipeline.execute()))
        if own > 0:
            return math.ceil(own / 1000)
        latest = max((float(end) for end in ends if end is not None), default=0.0)
        return max(0, math.ceil(latest - now.timestamp()))

    async def report_suspicion(self, subject: str, leniency: Leniency = NO_LIMIT) -> timedelta:
        """Counts a report and puts the subject out; gives for how long."""
        seconds = await self._report(
            keys=[SUSPICION(subject=subject), TIMEOUT(subject=subject)],
            args=[
                int(leniency.memory.total_seconds()),
                int(timeout_after(0).total_seconds()),
                int(leniency.longest.total_seconds()),
            ],
        )
        return timedelta(seconds=int(seconds))

    async def count_proxied_rejection(self, subject: str) -> int:
        """The rejections of this hour that came through the proxy, this one included."""
        window = int(REJECTION_WINDOW.total_seconds())
        return int(await self._count(keys=[PROXY_SUSPICION(subject=subject)], args=[window]))

    async def claim_model_rejection_notice(self, subject: str) -> bool:
        """Whether this is the first claim of the subject's hour: only then are moderators told."""
        window = int(REJECTION_WINDOW.total_seconds())
        with self._live.guard("SET") as redis:
            return bool(await redis.set(MODEL_REJECTION_NOTICE(subject=subject), b"1", nx=True, ex=window))

    async def keep_out(self, target: Target, length: timedelta, now: datetime) -> None:
        """Keeps an address or a network out for exactly so long, whatever held before."""
        match target:
            case Single(subject=subject):
                with self._live.guard("SET") as redis:
                    await redis.set(TIMEOUT(subject=subject), b"1", ex=int(length.total_seconds()))
            case Network(cidr=cidr):
                await self.block_network(cidr, until=now + length, now=now)

    async def let_in(self, target: Target, *, forgive: bool) -> None:
        """Ends what `keep_out` or reports did. `forgive`: the next timeout of a subject is as short as its first."""
        with self._live.guard("DEL HDEL") as redis:
            if isinstance(target, Network):
                await redis.hdel(BLOCKS(), target.cidr)
            if target.subject is not None:
                forgiven = [SUSPICION(subject=target.subject)] if forgive else []
                await redis.delete(TIMEOUT(subject=target.subject), *forgiven)

    async def blocks(self, now: datetime) -> list[KeptOut]:
        """Every blocked network, in no order."""
        with self._live.guard("HGETALL") as redis:
            ends = cast("dict[bytes, bytes]", await redis.hgetall(BLOCKS()))
        return _still_out(((network.decode(), end) for network, end in ends.items()), now)

    async def standing(self, networks: tuple[str, ...], subject: str | None, now: datetime) -> list[KeptOut]:
        """Which of the networks are blocked, in their order, and then the subject's own timeout."""
        with self._live.guard("HMGET PTTL") as redis:
            pipeline = redis.pipeline(transaction=False)
            pipeline.hmget(BLOCKS(), list(networks))
            pipeline.pttl(TIMEOUT(subject=subject or ""))
            ends, own = cast("tuple[list[bytes | None], int]", tuple(await pipeline.execute()))
        out = _still_out(zip(networks, ends, strict=True), now)
        return [*out, KeptOut(subject, math.ceil(own / 1000))] if subject is not None and own > 0 else out

    async def count_model_rejection(self, subject: str) -> int:
        """The model rejections of the subject within its hour, this one included."""
        window = int(REJECTION_WINDOW.total_seconds())
        return int(await self._count(keys=[MODEL_REJECTIONS(subject=subject)], args=[window]))

    async def block_network(self, network: str, *, until: datetime, now: datetime) -> None:
        """Keeps a network, in canonical form, out until a moment."""
        ends, current = (f"{moment.timestamp():.3f}" for moment in (until, now))
        await self._block(keys=[BLOCKS()], args=[network, ends, current])


def _still_out(ends: Iterable[tuple[str, bytes | None]], now: datetime) -> list[KeptOut]:
    """The networks whose end is still to come."""
    left = ((network, math.ceil(float(end) - now.timestamp())) for network, end in ends if end is not None)
    return [KeptOut(network, seconds) for network, seconds in left if seconds > 0]
