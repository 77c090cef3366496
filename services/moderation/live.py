"""Every use that moderation makes of Redis: who is out, for how long, and what was counted against whom."""

import math
from datetime import datetime, timedelta
from typing import cast

from horde.live import Key, Live, Script
from services.moderation.rules.ip_subject import blocks_around, ip_subject
from services.moderation.rules.timeouts import REJECTION_WINDOW, SUSPICION_MEMORY, timeout_after

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
    "horde:moderation:model_rejections:{subject}",
    kind="string",
    ttl=REJECTION_WINDOW,
    owner="moderation",
    if_lost="a subject gets its free model rejections of the hour again",
)


class Addresses:
    """The standing of addresses. Every method raises LiveUnavailable."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._report = Script(live, "services.moderation", "report_suspicion")
        self._count = Script(live, "services.moderation", "count_model_rejection")
        self._block = Script(live, "services.moderation", "block_network")

    async def seconds_left(self, origin: str, now: datetime) -> int:
        """Seconds until the origin may come back: by its subject, else by the longest block around it; 0: it may."""
        subject = ip_subject(origin)
        if subject is None:
            return 0
        with self._live.guard() as redis:
            pipeline = redis.pipeline(transaction=False)
            pipeline.pttl(TIMEOUT(subject=subject))
            pipeline.hmget(BLOCKS(), list(blocks_around(origin)))
            own, ends = cast("tuple[int, list[bytes | None]]", tuple(await pipeline.execute()))
        if own > 0:
            return math.ceil(own / 1000)
        latest = max((float(end) for end in ends if end is not None), default=0.0)
        return max(0, math.ceil(latest - now.timestamp()))

    async def report_suspicion(self, subject: str) -> timedelta:
        """Counts a report and puts the subject out; gives for how long."""
        seconds = await self._report(
            keys=[SUSPICION(subject=subject), TIMEOUT(subject=subject)],
            args=[int(SUSPICION_MEMORY.total_seconds()), int(timeout_after(0).total_seconds())],
        )
        return timedelta(seconds=int(seconds))

    async def count_model_rejection(self, subject: str) -> int:
        """The model rejections of the subject within its hour, this one included."""
        window = int(REJECTION_WINDOW.total_seconds())
        return int(await self._count(keys=[MODEL_REJECTIONS(subject=subject)], args=[window]))

    async def block_network(self, network: str, *, until: datetime, now: datetime) -> None:
        """Keeps a network, in canonical form, out until a moment."""
        ends = math.ceil(until.timestamp())
        await self._block(keys=[BLOCKS()], args=[network, ends, math.floor(now.timestamp())])
