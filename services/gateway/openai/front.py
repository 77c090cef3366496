"""What every call to /v1 has at hand."""

import math

from starlette.types import Scope

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.rpc.probes import Readiness
from horde.telemetry import logs
from services.gateway.answers import Header
from services.gateway.caller import Caller
from services.gateway.deps import GatewayDeps
from services.gateway.fresh import Fresh
from services.gateway.openai import wire
from services.gateway.openai.attaching import Attaching
from services.gateway.openai.events import Cause, FrontEvents
from services.gateway.openai.reply import Standing
from services.gateway.throttle import HEADERS, Budget

log = logs.get(__name__)

_SECONDS_A_MINUTE = 60

_READY_SECONDS = 1.0
"""How long an answer to /ready is good: anybody may ask, and each new answer asks four services."""


class Front:
    """The gateway's dependencies and the front's own memory."""

    def __init__(self, deps: GatewayDeps) -> None:
        self.deps = deps
        self.events = FrontEvents()
        self.attaching = Attaching(
            self._cancel_abandoned, deps.orphans, deps.clock, deps.settings.front_abandoned_seconds
        )
        self.failing = Fresh(Readiness(deps.neighbours.checks).failing, _READY_SECONDS, deps.clock)

    async def cancel(self, request_id: str, cause: Cause) -> Standing | None:
        """Cancels a request; what the cancel found, or None when dispatch could not be asked or knows it no more."""
        self.events.cancelled(cause)
        try:
            found = await self.deps.neighbours.cancel_request(wire.cancel_request(request_id))
        except (Refusal, Outage) as failed:
            log.warning("request not cancelled", request=request_id, cause=cause, why=str(failed))
            return None
        return wire.standing(found.status)

    async def throttle(self, scope: Scope, caller: Caller, budget: Budget, route: str) -> None:
        """Counts one call, and gives its answer OpenAI's names of the limits. Raises Refusal(RateLimitExceeded)."""
        try:
            await self.deps.throttle.admit(scope, caller, budget, route)
        except Refusal as refused:
            if refused.reason is reasons.RATE_LIMIT_EXCEEDED and refused.retry_after is None:
                told = dict(scope.get(HEADERS, ()))
                refused.retry_after = max(1, int(told.get(b"retry-after", b"1")))
            raise
        finally:
            scope[HEADERS] = _renamed(scope.get(HEADERS, ()))

    async def _cancel_abandoned(self, request_id: str) -> None:
        await self.cancel(request_id, "disconnect")


def _renamed(headers: "list[Header] | tuple[Header, ...]") -> list[Header]:
    told = dict(headers)
    if b"x-ratelimit-limit" not in told:
        return list(headers)
    minutes, seconds = divmod(math.ceil(float(told.get(b"retry-after", b"0"))), _SECONDS_A_MINUTE)
    reset = f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
    return [
        (b"x-ratelimit-limit-requests", told[b"x-ratelimit-limit"]),
        (b"x-ratelimit-remaining-requests", told.get(b"x-ratelimit-remaining", b"0")),
        (b"x-ratelimit-reset-requests", reset.encode()),
    ]
