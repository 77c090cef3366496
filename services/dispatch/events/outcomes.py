"""What became of jobs, as operators see it.

The reference's `horde.text.stale_aborts` is `horde_text_stale_aborts_total` here, and so on.
"""

from typing import Literal

from horde.contract.refusal import Refusal
from horde.telemetry import logs, tracing
from horde.telemetry.metrics import LONG_SECONDS, Counter, Few, Histogram
from services.dispatch.rules.size_buckets import size_bucket
from services.dispatch.rules.submission import Reply, Target

log = logs.get(__name__)

type Ending = Literal["completed", "faulted", "aborted"]

_SUBMITS = Counter("horde_submit_outcomes_total", "Submits, by what came of them.", ("gentype", "outcome"))
_FAULTS = Counter(
    "horde_chat_worker_faults_total", "Faulted chat submits, by the reason sent.", ("reason", "worker_trusted")
)
_STALE = Counter(
    "horde_text_stale_aborts_total", "Jobs aborted because their lease lapsed.", ("worker_trusted", "chat")
)
_EMPTY = Counter(
    "horde_text_empty_generations_total", "Stored replies without any text.", ("model", "bridge_agent", "state")
)
_few_models, _few_agents = Few(200), Few(50)
"""Workers name both; a stranger must not make as many series as names come to mind."""

_KUDOS = Histogram(
    "horde_submit_kudos",
    "What a stored reply earned, in kudos.",
    ("gentype",),
    buckets=(0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000),
)
_SHADOW = Counter(
    "horde_text_gate_shadow_outcomes_total",
    "How text jobs ended that were assigned over their worker's capacity.",
    ("worker_trusted", "size_bucket", "outcome"),
)
_SHADOW_SECONDS = Histogram(
    "horde_text_gate_shadow_service_seconds",
    "Pop to submit of text jobs that were assigned over their worker's capacity.",
    ("worker_trusted", "size_bucket"),
    buckets=LONG_SECONDS,
)
_CANCELS = Counter("horde_dispatch_cancels_total", "Cancels, by whether they changed anything.", ("outcome",))
_REMOVED = Counter("horde_dispatch_removed_requests_total", "Expired requests that were removed.", ("answered",))
_OBJECTS = Counter("horde_dispatch_object_deletes_total", "Objects of removed requests, by what became.", ("outcome",))
_FAULTED = Counter("horde_dispatch_faulted_requests_total", "Requests faulted after too many faulted jobs.")


def stored(target: Target, reply: Reply, *, reward: int, seconds: float) -> None:
    """A reply was accepted, `seconds` after the pop."""
    tracing.mark(request_id=str(target.request_id))
    _SUBMITS.labels("text", "censored" if reply.censored else "accepted").inc()
    if target.fake:
        return
    _KUDOS.labels("text").observe(reward / 100)
    if target.over_capacity:
        shadow_ended(worker_trusted=target.worker_trusted, max_length=target.max_length, ending="completed")
        _SHADOW_SECONDS.labels(_flag(target.worker_trusted), size_bucket(target.max_length)).observe(seconds)
    if reply.is_empty:
        agent = target.bridge_agent.split(":")[0]
        state = "censored" if reply.censored else "ok"
        _EMPTY.labels(_few_models(target.model), _few_agents(agent), state).inc()
        log.warning("empty generation", generation=str(target.id), model=target.model, bridge_agent=agent)
    log.info(
        "horde.job_submit.done",
        generation=str(target.id),
        request=str(target.request_id),
        chat=target.is_chat,
        reward_hundredths=reward,
        dropped_tool_calls=reply.dropped_calls,
    )


def repeated() -> None:
    """A reply came twice."""
    _SUBMITS.labels("text", "already_submitted").inc()


def refused(target: Target, refusal: Refusal) -> None:
    """A reply was refused."""
    tracing.mark(request_id=str(target.request_id))
    _SUBMITS.labels("text", "error").inc()
    log.info("reply refused", generation=str(target.id), request=str(target.request_id), reason=refusal.reason.key)


def given_up(target: Target, label: str) -> None:
    """A worker gave a job up; counted again for a repeat."""
    tracing.mark(request_id=str(target.request_id))
    _SUBMITS.labels("text", "faulted").inc()
    if target.is_chat:
        _FAULTS.labels(label, _flag(target.worker_trusted)).inc()


def lapsed(*, worker_trusted: bool, chat: bool) -> None:
    """A lease ended without a reply."""
    _STALE.labels(_flag(worker_trusted), _flag(chat)).inc()


def passed_over(generation: str, error: Exception) -> None:
    """A lapsed job could not be aborted and the loop went on with others; its run counts as a fault all the same."""
    log.error("lapsed job passed over", generation=generation, why=type(error).__name__)


def shadow_ended(*, worker_trusted: bool, max_length: int, ending: Ending) -> None:
    """A text job that was assigned over its worker's capacity ended."""
    _SHADOW.labels(_flag(worker_trusted), size_bucket(max_length), ending).inc()


def cancelled(*, claimed: bool) -> None:
    """A cancel arrived; `claimed`: it was the one that counts."""
    _CANCELS.labels("claimed" if claimed else "unchanged").inc()


def request_faulted(request: str) -> None:
    """A request failed too often."""
    _FAULTED.inc()
    log.info("request faulted", request=request)


def removed(*, answered: bool) -> None:
    """An expired request is gone."""
    _REMOVED.labels(_flag(answered)).inc()


def objects_deleted(deleted: int, *, kept: int) -> None:
    """The store deleted objects whose row is gone; others it kept, and they stay queued."""
    _OBJECTS.labels("deleted").inc(deleted)
    _OBJECTS.labels("kept").inc(kept)


def _flag(value: bool) -> str:  # noqa: FBT001 - a label's value
    return "true" if value else "false"
