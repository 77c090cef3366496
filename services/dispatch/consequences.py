"""What others are told after a commit: progress of ended leases, waiting clients and webhooks of a request's replies.

Best effort, all of it: nothing here fails the call or the loop that caused it.
"""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from services.dispatch import reporting
from services.dispatch.aftermath import Work
from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.events import outcomes as events
from services.dispatch.repo import reports as repo
from services.dispatch.repo.outcomes import Fault, StoredResult
from services.dispatch.repo.waiting import tell_waiting
from services.dispatch.rules import suspicions, webhook
from services.dispatch.rules.streams import Signal
from services.dispatch.rules.submission import Reply, Target

_SHORTLY = 0.25
"""Seconds that an answer waits for a lease to go; a neighbour that is away holds no worker up for longer."""

_CANCELLED = 1.0
"""The same for a cancel: what the call to progress may take."""


def stored(target: Target, result: StoredResult, deps: Deps) -> None:
    """A reply was stored: whoever waits is woken; `done` comes after `generation`."""
    if target.is_chat and not target.fake:
        signals = [Signal("generation", result.finished)]
        if result.done:
            signals.append(Signal("done", result.finished))
        publish(target.request_id, signals, deps)


def told(target: Target, reply: Reply, reward: int, deps: Deps) -> None:
    """The webhook of a text request learns of a reply that its status shows. `reward`: hundredths of a kudo."""
    if target.webhook is None or target.fake:
        return
    with durations.webhook_call():
        deps.webhooks.call(target.webhook, target.id, webhook.told(target, reply, reward))


def measured(target: Target, tokens_per_second: float, deps: Deps) -> None:
    """A reply's speed is known: a worker that cannot be that fast becomes suspicious."""
    if target.fake:
        return
    found = suspicions.by_speed(
        tokens_per_second,
        target.model,
        billions=deps.reference.current.multiplier(target.model),
        owner_trusted=target.caller_trusted,
    )
    if found:
        deps.aftermath.enqueue("suspect", partial(_suspect, target.id, found, deps))


async def _suspect(generation: UUID, found: Sequence[suspicions.Reason], deps: Deps) -> None:
    for reason in found:
        await repo.suspect(deps.store, generation, reason, deps.clock.now())
    await reporting.deliver_reports(deps)


def reported(deps: Deps) -> None:
    """Moderation has something to be told now; the loop would do it in a while."""
    deps.aftermath.enqueue("deliver_reports", partial(reporting.deliver_reports, deps))


def faulted(fault: Fault, deps: Deps, *, fake: bool, chat: bool) -> None:
    """A generation faulted: when its request faulted with it, whoever waits is told why."""
    if fault.request_id is None:
        return
    if not (fault.request_faulted or fake):
        waiting(fault.request_id, deps)
    if fault.request_faulted:
        events.request_faulted(str(fault.request_id))
        if chat:
            publish(fault.request_id, [Signal("faulted", fault.finished, fault.fault_reason, fault.fault_rc)], deps)


async def leases_cancelled(request: UUID, generations: Sequence[UUID], deps: Deps) -> None:
    """The workers of a cancelled request are told to stop before the answer: the next post learns of it.

    The answer waits for _CANCELLED at most; they are told even so.
    """
    if not generations:
        return
    running = [str(generation) for generation in generations]
    telling = partial(deps.neighbours.cancel_leases, str(request), running)
    await deps.aftermath.finish("cancel_leases", telling, within=_CANCELLED)


async def lease_gone(generation: UUID, request: UUID, deps: Deps, *, ended: bool) -> None:
    """The lease of a job that its worker hands in or gives up goes before the answer: the next post finds none.

    `ended`: the stream says so. The answer waits for _SHORTLY at most; the lease goes even so.
    """
    await deps.aftermath.finish("close_lease", _closing(generation, request, deps, ended=ended), within=_SHORTLY)


def lapsed(generation: UUID, request: UUID, deps: Deps, *, fake: bool) -> None:
    """The lease of a job that nobody handed in."""
    deps.aftermath.enqueue("close_lease", _closing(generation, request, deps, ended=not fake))


def ended(request: UUID, generations: Sequence[UUID], deps: Deps) -> None:
    """The leases of generations that went with their request."""
    for generation in generations:
        deps.aftermath.enqueue("close_lease", _closing(generation, request, deps, ended=True))


def waiting(request: UUID, deps: Deps) -> None:
    """Jobs of the request wait again: pops that wait for such are woken, in every process."""
    deps.aftermath.enqueue("tell_waiting", partial(tell_waiting, deps.store, request))


def publish(request: UUID, signals: Sequence[Signal], deps: Deps) -> None:
    """Wakes whoever waits for the request."""
    deps.aftermath.enqueue("publish", partial(deps.neighbours.publish, str(request), signals))


def _closing(generation: UUID, request: UUID, deps: Deps, *, ended: bool) -> Work:
    return partial(deps.neighbours.close_lease, str(generation), str(request), ended=ended)
