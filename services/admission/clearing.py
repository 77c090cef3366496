"""Deletes at once what a discarded request has stored, after its caller was answered.

Best effort: the same objects are queued in the database, and dispatch deletes them again.
"""

import asyncio
from collections.abc import Sequence

from horde.failures import Outage
from horde.telemetry import logs
from services.admission.neighbours import Media

log = logs.get(__name__)


class Clearing:
    """The deletes under way."""

    def __init__(self, media: Media) -> None:
        self._media = media
        self._tasks: set[asyncio.Task[None]] = set()

    def delete(self, keys: Sequence[str]) -> None:
        """Has objects deleted soon. Never raises and never waits."""
        if keys:
            task = asyncio.create_task(self._delete(keys), name="delete discarded objects")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def drain(self, within: float) -> None:
        """Gives the deletes under way up to `within` seconds; the rest is left to the queue."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=within)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _delete(self, keys: Sequence[str]) -> None:
        try:
            await self._media.delete_objects(keys)
        except Outage as away:
            log.warning("discarded objects are left to the queue", objects=len(keys), why=str(away))
        except Exception:
            log.exception("fault", what="delete discarded objects")
