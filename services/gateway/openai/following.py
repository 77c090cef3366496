"""One request from acceptance to its stored reply, whatever is lost in between.

Signals say when to look, the status says what is true. A lost signal, a dead Redis or a restarted service only delays
the look, which is repeated anyway.
"""

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from horde.clock import Clock
from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from services.gateway.neighbours import Neighbours
from services.gateway.openai import wire
from services.gateway.openai.errors import SERVER, UNAVAILABLE, FrontError, gap_error
from services.gateway.openai.events import Cause
from services.gateway.openai.reply import Ended, Piece, Reply, Signal, Standing
from services.gateway.openai.watch import Watch

log = logs.get(__name__)

_SUBSCRIBE_SECONDS = 2.0
"""How long the first look waits for the subscription. Without one it looks at once, and again every two seconds."""

_LOOK_SECONDS = 2.0
_LONGEST_LOOK_SECONDS = 10.0
"""Seconds from one look to the next: always the first while nothing tells of changes, else up to the second."""

_NO_WORKER_RETRY_SECONDS = 30


class Abandoned(Exception):
    """The client is gone."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a request may take. All in seconds; `deadline` on the clock."""

    deadline: float
    grace: float
    fail_fast: bool


class Following:
    """Follows one request. `standing` is what was last seen of it."""

    def __init__(
        self,
        request_id: str,
        watch: Watch,
        patience: Patience,
        neighbours: Neighbours,
        clock: Clock,
        cancel: Callable[[str, Cause], Awaitable[Standing | None]],
    ) -> None:
        self.request_id = request_id
        self.standing: Standing | None = None
        self._watch = watch
        self._patience = patience
        self._get_status = neighbours.get_status
        self._clock = clock
        self._cancel = cancel
        self._is_abandoned = False
        self._fault: Signal | None = None
        self._stranded_since: float | None = None
        self._pause = _LOOK_SECONDS
        self._next_look = 0.0

    @property
    def reply(self) -> Reply | None:
        """The stored reply, once there is one."""
        return None if self.standing is None else self.standing.reply

    def abandon(self) -> None:
        """The client is gone: the step under way raises Abandoned, or the next one does at once."""
        self._is_abandoned = True
        self._watch.wake()

    async def begin(self) -> None:
        """Looks for the first time, and refuses what cannot be served. Raises FrontError, Abandoned."""
        await self._watch.subscribed(_SUBSCRIBE_SECONDS)
        if self._is_abandoned:
            raise Abandoned
        await self._look()
        standing = self.standing
        if standing is None or standing.reply is not None:
            return
        if standing.gap is not None and standing.is_stranded:
            await self._give_up(_gap_of(standing), "gap")
        elif self._patience.fail_fast and standing.is_stranded:
            await self._give_up(_no_worker(standing), "fail_fast")
        elif (
            self._patience.fail_fast and standing.wait_time_seconds > self._patience.deadline - self._clock.monotonic()
        ):
            await self._give_up(_queue_too_long(standing), "fail_fast")

    async def step(self, until: float) -> Sequence[Piece | Ended]:
        """What came of the reply, at the latest at `until` on the clock. Raises FrontError, Abandoned."""
        events = await self._watch.take(min(until, self._next_look, self._patience.deadline))
        if self._is_abandoned:
            raise Abandoned
        now = self._clock.monotonic()
        pieces = [event for event in events if not isinstance(event, Signal)]
        if len(pieces) != len(events):
            self._note_fault(event for event in events if isinstance(event, Signal))
            self._pause = _LOOK_SECONDS
            self._next_look = now
        elif pieces:
            # Text comes, so there is nothing to see yet.
            self._pause = _LOOK_SECONDS
            self._next_look = now + _LOOK_SECONDS
        if now >= self._next_look:
            await self._look()
        if self.reply is None and now >= self._patience.deadline:
            await self._give_up(_out_of_time(), "budget")
        return pieces

    async def _look(self) -> None:
        try:
            answer = await self._get_status(wire.status_request(self.request_id))
        except Outage as away:
            log.info("status not read", why=str(away))
            self._next_look = self._clock.monotonic() + _LOOK_SECONDS
            return
        except Refusal as refused:
            raise self._gone(refused) from None
        standing = self.standing = wire.standing(answer.status)
        now = self._clock.monotonic()
        self._next_look = now + self._pause
        self._pause = min(self._pause * 2, _LONGEST_LOOK_SECONDS) if self._watch.is_live else _LOOK_SECONDS
        if standing.reply is None:
            await self._judge(standing, now)

    async def _judge(self, standing: Standing, now: float) -> None:
        if standing.is_faulted:
            raise self._failed(standing.fault_reason, standing.fault_rc)
        if standing.is_done:
            message = "The request was cancelled before there was a reply."
            raise FrontError(502, SERVER, "ChatRequestNoGeneration", message)
        if not standing.is_stranded:
            self._stranded_since = None
            return
        if self._stranded_since is None:
            self._stranded_since = now
        ends_at = self._stranded_since + self._patience.grace
        self._next_look = min(self._next_look, max(ends_at, now))
        if ends_at <= now:
            error = _no_worker(standing) if standing.gap is None else _gap_of(standing)
            await self._give_up(error, "no_worker")

    async def _give_up(self, error: FrontError, cause: Cause) -> None:
        """Cancels and raises, unless the cancel finds that the reply came in the meantime."""
        found = await self._cancel(self.request_id, cause)
        if found is None or found.reply is None:
            raise error
        self.standing = found

    def _note_fault(self, signals: Iterable[Signal]) -> None:
        for signal in signals:
            if signal.event == "faulted":
                self._fault = signal

    def _gone(self, refused: Refusal) -> FrontError:
        if refused.reason is not reasons.REQUEST_NOT_FOUND:
            return FrontError(502, SERVER, "generation_failed", refused.message, facts={"rc": refused.reason.word})
        fault = self._fault
        if fault is not None and fault.fault_reason is not None:
            return FrontError(502, SERVER, "request_expired", fault.fault_reason, facts={"rc": fault.fault_rc})
        return FrontError(502, SERVER, "request_expired", "The request expired before there was a reply.")

    def _failed(self, reason: str | None, rc: str | None) -> FrontError:
        if reason is None and self._fault is not None:
            reason, rc = self._fault.fault_reason, self._fault.fault_rc
        message = reason or "The workers that tried could not generate a reply."
        return FrontError(502, SERVER, "generation_failed", message, facts={} if rc is None else {"rc": rc})


def _gap_of(standing: Standing) -> FrontError:
    gap = standing.gap
    return _no_worker(standing) if gap is None else gap_error(gap.missing, gap.exceeded, gap.facts)


def _no_worker(standing: Standing) -> FrontError:
    seconds = math.ceil(standing.wait_time_seconds) or _NO_WORKER_RETRY_SECONDS
    message = "No worker that could serve this request is online now."
    return FrontError(503, UNAVAILABLE, "no_eligible_worker", message, retry_after=seconds)


def _queue_too_long(standing: Standing) -> FrontError:
    message = f"The request would wait about {standing.wait_time_seconds} seconds, longer than it may take."
    seconds = max(1, math.ceil(standing.wait_time_seconds))
    return FrontError(503, UNAVAILABLE, "queue_too_long", message, retry_after=seconds)


def _out_of_time() -> FrontError:
    message = "There was no reply within the time a completion may take; the request was cancelled."
    return FrontError(504, "timeout_error", "request_timeout", message)
