"""Between the proto of reports and the words of the domain."""

from datetime import UTC, datetime
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp

from horde_pb.moderation.v1 import reports_service_pb2 as pb
from services.moderation.rules.evidence import WorkerReport, storable
from services.moderation.rules.suspicions import Suspicion, stored_name


def worker_report(request: pb.RecordWorkerReportRequest) -> WorkerReport:
    """What RecordWorkerReport tells. Raises ValueError for what is no UUID: dispatch would be broken."""
    return WorkerReport(
        request_id=UUID(request.request_id) if request.request_id else None,
        job_id=UUID(request.job_id),
        worker_id=UUID(request.worker_id),
        worker_name=request.worker_name,
        account_id=request.account_id,
        proxied_account=request.proxied_account if request.HasField("proxied_account") else None,
        origin=request.origin,
        models=tuple(request.models),
        loras=tuple(request.loras),
        submitted_prompt=request.submitted_prompt if request.HasField("submitted_prompt") else None,
        effective_prompt=request.effective_prompt if request.HasField("effective_prompt") else None,
        reported=_moment(request.reported) if request.HasField("reported") else None,
    )


def suspicion(request: pb.RecordWorkerSuspicionRequest) -> Suspicion:
    """What RecordWorkerSuspicion tells. Raises ValueError for what is no UUID."""
    return Suspicion(
        report_id=UUID(request.report_id),
        worker_id=UUID(request.worker_id),
        worker_name=stored_name(request.worker_name),
        owner_id=request.account_id,
        suspicion_id=request.suspicion_id,
        detail=storable(request.detail),
        paused=request.paused,
        happened=_moment(request.happened) if request.HasField("happened") else None,
    )


def _moment(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
