"""What moderators have been told already, so that they are not told again: a key for each subject, in Redis."""

from datetime import timedelta
from typing import Final

from horde.live import Key, Live

PROBLEM_NOTIFIED = Key(
    "{subject}_problem_notified",
    kind="string",
    ttl=timedelta(days=1),  # the longest; hourly ones are shorter
    owner="moderation",
    if_lost="moderators are told once more of what they know",
)

_SENDING: Final = timedelta(seconds=10)
"""How long a claim stands whose process died before it knew whether the message was taken."""


class Mutes:
    """Claims of messages. Every method raises LiveUnavailable."""

    def __init__(self, live: Live) -> None:
        self._live = live

    async def claim(self, subject: str) -> bool:
        """Whether nobody was told of this subject: then the claimer tells, and says how that went."""
        with self._live.guard("SET") as redis:
            return bool(await redis.set(PROBLEM_NOTIFIED(subject=subject), b"1", nx=True, px=_SENDING))

    async def told(self, subject: str, length: timedelta) -> None:
        """The message was taken: the subject is silent from now on."""
        with self._live.guard("SET") as redis:
            await redis.set(PROBLEM_NOTIFIED(subject=subject), b"1", ex=length)

    async def release(self, subject: str) -> None:
        """The message was not taken: the next report may try again."""
        with self._live.guard("DEL") as redis:
            await redis.delete(PROBLEM_NOTIFIED(subject=subject))
