"""Media's one key in Redis: objects that the store would not delete, kept until it does."""

from collections.abc import Sequence
from typing import cast

from horde.contract.limits import MAX_CHAT_IMAGE_DELETE_RETRY_KEYS
from horde.live import Key, Live, Script

DELETE_RETRY = Key(
    "horde:chat:image_delete_retry",
    kind="set",
    ttl=None,  # a key that expired out of the set would leave its object stored and unreferenced
    owner="media",
    if_lost="deletes are tried again by dispatch alone, from the keys that it has queued in Postgres",
)


class DeleteQueue:
    """The set of keys whose delete is owed. Every method raises LiveUnavailable."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._queue = Script(live, "services.media", "queue_deletes")

    async def add(self, keys: Sequence[str]) -> list[str]:
        """Queues keys while there is room; gives those that found none."""
        if not keys:
            return []
        left_out = await self._queue(keys=[DELETE_RETRY()], args=[MAX_CHAT_IMAGE_DELETE_RETRY_KEYS, *keys])
        return [key.decode() for key in left_out]

    async def some(self, count: int) -> list[str]:
        """Up to `count` queued keys, which stay queued."""
        with self._live.guard("SRANDMEMBER") as redis:
            return [key.decode() for key in cast("list[bytes]", await redis.srandmember(DELETE_RETRY(), count))]

    async def done(self, keys: Sequence[str]) -> None:
        """Forgets keys that the store has deleted."""
        if keys:
            with self._live.guard("SREM") as redis:
                await redis.srem(DELETE_RETRY(), *keys)

    async def size(self) -> int:
        """How many keys are queued."""
        with self._live.guard("SCARD") as redis:
            return int(await redis.scard(DELETE_RETRY()))
