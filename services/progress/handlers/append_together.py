"""AppendTogether: posts of different workers that came at one time, each judged by itself."""

import asyncio
from collections.abc import Sequence

from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from services.progress.deps import Deps
from services.progress.handlers.append_progress import append_progress
from services.progress.rules.deltas import Delta, Failed, Verdict

log = logs.get(__name__)


async def append_together(posts: Sequence[tuple[Delta, str]], deps: Deps) -> list[Verdict | Refusal | Failed]:
    """What becomes of each post and its API key, in their order. Refuses nothing itself."""
    judged = await asyncio.gather(*(_judged(delta, api_key, deps) for delta, api_key in posts))
    return list(judged)


async def _judged(delta: Delta, api_key: str, deps: Deps) -> Verdict | Refusal | Failed:
    try:
        return await append_progress(delta, api_key, deps)
    except Refusal as refused:
        return refused
    except Outage as away:
        return Failed(str(away))
    except Exception as bug:
        # The posts beside this one are answered all the same, so it is told here and not by the whole call.
        log.exception("post not judged", generation=delta.generation_id)
        return Failed(type(bug).__name__)
