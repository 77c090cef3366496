"""How often one caller may call which route: the table of base-domain 1.8, counted by `horde.ratelimit`."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from starlette.types import Scope

from horde.clock import Clock
from horde.contract import reasons
from horde.contract.api_keys import ANONYMOUS_KEY
from horde.contract.refusal import Refusal
from horde.ratelimit import RateLimiter, Verdict
from services.gateway.answers import Header
from services.gateway.caller import Caller
from services.gateway.favours import Favours
from services.gateway.passkeys import ProxyPasskeys
from services.gateway.settings import GatewaySettings

HEADERS = "horde.headers"
"""Where a request's scope keeps headers that its answer has to carry, whatever the answer is."""

_LONGEST_PATH = 256
"""Characters of a path that tell budgets apart; longer ones are no addresses of ours."""


class Budget(Enum):
    """Which limits a route has."""

    DEFAULT = auto()
    CHAT_SUBMIT = auto()
    TEXT_SUBMIT = auto()
    WORKER = auto()
    WORKER_BY_ID = auto()
    STATUS = auto()
    MODES = auto()
    ACCOUNT = auto()
    NEW_SHARED_KEY = auto()
    KUDOS_TRANSFER = auto()
    REVIEW_READ = auto()
    REVIEW_WRITE = auto()
    UNLIMITED = auto()


class _By(Enum):
    ADDRESS = auto()  # the peer's address, all calls of this route together
    PATH = auto()  # the address the call is made for and the path, so each id has its own
    KEY = auto()  # the API key and the path
    KEY_AND_ROUTE = auto()  # the API key and the route, all ids together


@dataclass(frozen=True, slots=True)
class _Rule:
    """`whitelisted` holds for the operator's list, `favoured` for who showed themselves worthy in the last day."""

    limit: str
    by: _By
    whitelisted: str | None = None
    favoured: str | None = None
    anonymous: str | None = None


class Throttle:
    """Counts each call before anything else is done for it."""

    def __init__(self, limiter: RateLimiter, settings: GatewaySettings, clock: Clock, passkeys: ProxyPasskeys) -> None:
        self._limiter = limiter
        self._clock = clock
        self._passkeys = passkeys
        self._favours = Favours(clock)
        self._enabled = settings.rate_limits_enabled and not settings.test_ratelimit_disabled
        self._whitelist = frozenset(settings.rate_limit_whitelist)
        self._rules = _table(settings)

    async def admit(self, scope: Scope, caller: Caller, budget: Budget, route: str) -> None:
        """Counts one call of `route`, the template of its path. The answer will have the headers of the tightest limit.

        Raises Refusal(RateLimitExceeded).
        """
        rules = self._rules[budget]
        if not self._enabled or not rules:
            return
        address = await self._passkeys.address_of(caller)
        verdicts = await self._limiter.hit_all([self._hit(rule, scope, caller, address, route) for rule in rules])
        tightest = min(verdicts, key=lambda verdict: (verdict.allowed, verdict.remaining))
        seconds = max(0, math.ceil(tightest.reset_at - self._clock.now().timestamp()))
        scope.setdefault(HEADERS, []).extend(_headers(tightest, seconds))
        if not tightest.allowed:
            raise Refusal(reasons.RATE_LIMIT_EXCEEDED, tightest.limit)

    def favour(self, caller: Caller) -> None:
        """The caller spoke for itself and is worthy: its address gets the higher limits of submits for a day."""
        self._favours.add(caller.remote_address)

    def _hit(self, rule: _Rule, scope: Scope, caller: Caller, address: str, route: str) -> tuple[str, Sequence[str]]:
        method, path = scope["method"], scope["path"][:_LONGEST_PATH]
        limit = self._limit(rule, caller, address)
        match rule.by:
            case _By.ADDRESS:
                return limit, (caller.remote_address, method, route)
            case _By.PATH:
                return limit, (address, method, path)
            case _By.KEY:
                return limit, (_key(caller), method, path)
            case _By.KEY_AND_ROUTE:
                return limit, (_key(caller), method, route)

    def _limit(self, rule: _Rule, caller: Caller, address: str) -> str:
        if rule.whitelisted is not None and caller.remote_address in self._whitelist:
            return rule.whitelisted
        if rule.favoured is not None and self._favours.holds(address):
            return rule.favoured
        if rule.anonymous is not None and caller.api_key in {None, ANONYMOUS_KEY}:
            return rule.anonymous
        return rule.limit


def _key(caller: Caller) -> str:
    """Without a key a call counts as everybody's, so nobody spends another's allowance."""
    return hashlib.sha256((caller.api_key or ANONYMOUS_KEY).encode()).hexdigest()


def _table(settings: GatewaySettings) -> Mapping[Budget, tuple[_Rule, ...]]:
    return {
        Budget.DEFAULT: (_Rule("90/minute", _By.ADDRESS),),
        Budget.CHAT_SUBMIT: _submit_rules(
            settings.chat_request_90min_limit_per_ip, settings.chat_request_2sec_limit_per_ip
        ),
        Budget.TEXT_SUBMIT: _submit_rules("90/minute", "2/second"),
        Budget.WORKER: (_Rule("60/second", _By.ADDRESS),),
        Budget.WORKER_BY_ID: (_Rule("30/minute", _By.PATH),),
        Budget.STATUS: (_Rule("60/minute", _By.PATH),),
        Budget.MODES: (_Rule("30/minute", _By.ADDRESS),),
        Budget.ACCOUNT: (_Rule("60/minute", _By.PATH),),
        Budget.NEW_SHARED_KEY: (_Rule("5/minute", _By.PATH),),
        Budget.KUDOS_TRANSFER: (
            _Rule("1/second", _By.KEY),
            _Rule("90/hour", _By.KEY, whitelisted="600/hour", favoured="600/hour"),
        ),
        Budget.REVIEW_READ: (_Rule("120/minute", _By.KEY_AND_ROUTE),),
        Budget.REVIEW_WRITE: (_Rule("30/minute", _By.KEY_AND_ROUTE),),
        Budget.UNLIMITED: (),
    }


def _submit_rules(steady: str, burst: str) -> tuple[_Rule, ...]:
    return (
        _Rule(steady, _By.PATH, whitelisted="300/minute", favoured="300/minute"),
        _Rule(burst, _By.PATH, whitelisted="10/second", favoured="10/second"),
        _Rule("2/second", _By.KEY, favoured="60/second", anonymous="60/second"),
    )


def _headers(verdict: Verdict, seconds: int) -> tuple[Header, ...]:
    return (
        (b"x-ratelimit-limit", str(verdict.amount).encode()),
        (b"x-ratelimit-remaining", str(verdict.remaining).encode()),
        (b"x-ratelimit-reset", str(math.ceil(verdict.reset_at)).encode()),
        (b"retry-after", str(seconds).encode()),
    )
