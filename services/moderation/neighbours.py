"""Whom moderation tells: the moderators, through Discord."""

import asyncio
from datetime import timedelta
from typing import Final

import httpx

from horde.telemetry import logs

log = logs.get(__name__)

_PATIENCE: Final = timedelta(seconds=2)
_LONGEST_NOTICE: Final = 2000
"""Characters; Discord refuses a longer message as a whole."""


class Discord:
    """One webhook. Without one, what would have been told is only logged."""

    def __init__(self, webhook: str | None) -> None:
        self._webhook = webhook

    async def tell(self, notice: str) -> bool:
        """Whether Discord took the notice. Failures are logged, without the webhook's address, which is a secret."""
        if self._webhook is None:
            log.warning("notice for moderators not sent", why="its Discord webhook is unset", notice=notice)
            return False
        # Names in a notice are chosen by strangers: they must not ring anybody's bell.
        body = {"content": notice[:_LONGEST_NOTICE], "allowed_mentions": {"parse": []}}
        try:
            # The time-outs of httpx are for each step: together they could outlast the claim of an alert.
            async with (
                asyncio.timeout(_PATIENCE.total_seconds()),
                httpx.AsyncClient(timeout=_PATIENCE.total_seconds(), follow_redirects=False) as client,
            ):
                answer = await client.post(self._webhook, json=body)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            log.warning("notice for moderators not sent", why=type(error).__name__)
            return False
        if not answer.is_success:
            log.warning("notice for moderators not sent", why=f"status {answer.status_code}")
        return answer.is_success
