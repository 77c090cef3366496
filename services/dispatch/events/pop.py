"""What happens at a pop, for the metrics and the log."""

from datetime import datetime

from horde.contract.api_keys import ANONYMOUS_ID
from horde.telemetry import logs, tracing
from horde.telemetry.metrics import LONG_SECONDS, Counter, Histogram
from services.dispatch.rules.jobs import Taken
from services.dispatch.rules.size_buckets import size_bucket
from services.dispatch.rules.workers import Account, Worker

log = logs.get(__name__)

_GENTYPE = "text"
"""What chat and text jobs alike are called beside image jobs of other hordes. base-domain 12."""

_COUNTS = (0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)

_RETURNED = Histogram("horde_pop_returned_jobs", "Jobs one pop was given.", ("gentype", "outcome"), buckets=_COUNTS)
_EVALUATED = Histogram(
    "horde_pop_candidates_evaluated", "Waiting requests one pop considered.", ("gentype",), buckets=_COUNTS
)
_SKIPPED = Counter("horde_pop_skipped_total", "Waiting requests a pop had to skip.", ("gentype", "skip_reason"))
_LOST = Counter("horde_pop_claims_lost_total", "Claims for which another worker was faster.")
_GIVEN_BACK = Counter("horde_pop_given_back_total", "Claims undone because their objects could not be delivered.")
_QUEUE_WAIT = Histogram(
    "horde_text_queue_wait_seconds",
    "From a request's creation to the assignment of a job.",
    ("requester", "chat", "requested_bucket"),
    buckets=LONG_SECONDS,
)
_CAPACITY_LIMITED = Counter(
    "horde_pop_lease_capacity_limited_total",
    "Pops by a chat worker whose measured speed caps the chat output it is offered.",
    ("gentype",),
)
_SHADOW = Counter(
    "horde_text_gate_shadow_assignments_total",
    "Text jobs assigned over the worker's capacity.",
    ("worker_trusted", "size_bucket"),
)


def capacity_limited() -> None:
    """A chat worker's measured speed caps what it is offered."""
    _CAPACITY_LIMITED.labels(_GENTYPE).inc()


def skipped(reason: str, requests: int) -> None:
    """Requests fitted the worker but for one reason that the queue does not know."""
    _SKIPPED.labels(_GENTYPE, reason).inc(requests)


def claim_lost() -> None:
    """Another worker took the job between the read and the claim."""
    _LOST.inc()


def nothing_found(considered: int) -> None:
    """A pop ends without a job."""
    _RETURNED.labels(_GENTYPE, "no_match").observe(0)
    _EVALUATED.labels(_GENTYPE).observe(considered)


def taken(job: Taken, worker: Worker, account: Account, *, considered: int, capacity: float, now: datetime) -> None:
    """A pop took jobs off the queue."""
    tracing.mark(request_id=str(job.request_id))
    _RETURNED.labels(_GENTYPE, "match").observe(len(job.generation_ids))
    _EVALUATED.labels(_GENTYPE).observe(considered)
    if job.fake:
        log.info("fake job handed out", worker_id=str(worker.id), request=str(job.request_id))
        return
    requester = "shared_key" if job.from_shared_key else "anonymous" if job.user_id == ANONYMOUS_ID else "registered"
    waited = max((now - job.created).total_seconds(), 0.0)
    queue_wait = _QUEUE_WAIT.labels(requester, _flag(value=job.is_chat), size_bucket(job.max_length))
    for _ in job.generation_ids:
        queue_wait.observe(waited)
    if job.over_capacity:
        _SHADOW.labels(_flag(value=account.trusted), size_bucket(job.max_length)).inc(len(job.generation_ids))
        log.info(
            "text job assigned over the worker's capacity",
            generations=[str(generation) for generation in job.generation_ids],
            request=str(job.request_id),
            worker_id=str(worker.id),
            max_length=job.max_length,
            capacity=round(capacity),
            speed=worker.speed,
        )


def given_back(job: Taken, why: Exception) -> None:
    """A job was taken, but its images or messages could not be delivered."""
    _GIVEN_BACK.inc()
    log.warning("job given back: its objects cannot be delivered", request=str(job.request_id), why=str(why))


def lease_not_opened(job: Taken, why: Exception) -> None:
    """Progress cannot take the job's posts; the worker's reply still counts."""
    log.warning("stream lease not opened", request=str(job.request_id), why=str(why))


def _flag(*, value: bool) -> str:
    return "true" if value else "false"
