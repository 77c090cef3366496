"""Paused workers: between the proto and the words of the domain."""

from datetime import datetime
from typing import get_args

from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract.suspicions import WORKER_SUSPICION_THRESHOLD
from horde_pb.dispatch.v1 import worker_review_pb2 as pb
from services.dispatch.rules.paused_workers import PausedQuery, PausedWorker, Sort

_SORTS: tuple[Sort, ...] = get_args(Sort.__value__)
"""In the order of the proto's numbers, from 1."""

_ALIKE = (
    "name",
    "type",
    "owner_id",
    "owner",
    "owner_trusted",
    "owner_flagged",
    "owner_suspicion",
    "contact",
    "online",
    "info",
    "bridge_agent",
    "models",
    "maintenance",
    "maintenance_msg",
    "uptime_seconds",
    "uncompleted_jobs",
    "aborted_jobs",
    "nonconformant_replies",
    "requests_fulfilled",
)
"""Fields that proto and domain name and type alike."""


def query(request: pb.ListPausedWorkersRequest) -> PausedQuery:
    """Which paused workers."""
    return PausedQuery(
        limit=request.limit,
        types=tuple(request.types),
        suspicions=tuple(request.suspicion_ids),
        online=request.online if request.HasField("online") else None,
        sort=_SORTS[max(request.sort, 1) - 1],
    )


def answer(workers: list[PausedWorker], total: int) -> pb.ListPausedWorkersResponse:
    """The page."""
    told = pb.ListPausedWorkersResponse(total=total, suspicion_threshold=WORKER_SUSPICION_THRESHOLD)
    told.workers.extend(_worker(worker) for worker in workers)
    return told


def _worker(worker: PausedWorker) -> pb.PausedWorker:
    return pb.PausedWorker(
        **{name: getattr(worker, name) for name in _ALIKE},
        id=str(worker.id),
        last_check_in=_stamp(worker.last_check_in),
        created=_stamp(worker.created),
        suspicions=[pb.WorkerSuspicion(id=number, count=count) for number, count in worker.suspicions],
    )


def _stamp(moment: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(moment)
    return made
