"""PreviewRetention: what a pass with other windows would remove, before anybody restarts with them."""

import asyncio
from typing import Final

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.contract.retention import MAX_CEILING_DAYS, RetentionPolicy, longer_than_ceiling, whole_days, window_days
from horde.failures import Outage
from services.moderation import retention_repo
from services.moderation.deps import Deps
from services.moderation.rules.preview import Preview

_PATIENCE_SECONDS: Final = 2.0
"""A preview that reads longer than this would be felt by the requests beside it."""


class PreviewTooSlow(Outage):
    """The preview was given up; nothing was changed."""

    def __init__(self) -> None:
        super().__init__("the preview", f"took longer than {_PATIENCE_SECONDS:g} seconds")


async def preview_retention(text: str | None, ipaddr: str | None, ceiling: str | None, deps: Deps) -> Preview:
    """The windows as a person writes them; None: the one in force.

    Raises Refusal (BadRequest) for windows that could not be set, PreviewTooSlow and StoreUnavailable.
    """
    policy = _policy(text, ipaddr, ceiling, deps.settings.retention)
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return Preview(await retention_repo.preview(deps.store, policy), policy)
    except TimeoutError:
        raise PreviewTooSlow from None


def _policy(text: str | None, ipaddr: str | None, ceiling: str | None, now: RetentionPolicy) -> RetentionPolicy:
    name = ""
    try:
        name = "text_days"
        text_days = now.text_days if text is None else window_days(text)
        name = "ipaddr_days"
        ipaddr_days = now.ipaddr_days if ipaddr is None else window_days(ipaddr)
        name = "ceiling_days"
        ceiling_days = now.ceiling_days if ceiling is None else whole_days(ceiling, most=MAX_CEILING_DAYS)
    except ValueError as wrong:
        raise Refusal(reasons.BAD_REQUEST, f"{name}: {wrong}") from None
    policy = RetentionPolicy(text_days, ipaddr_days, ceiling_days, now.worker_suspicion_days, now.access_log_days)
    long = longer_than_ceiling(policy)
    if long:
        raise Refusal(reasons.BAD_REQUEST, f"{' and '.join(long)}: longer than ceiling_days")
    return policy
