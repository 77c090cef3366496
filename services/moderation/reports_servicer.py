"""The RPCs of reports, one line each: wire in, handler, wire out."""

from typing import Any, override

from grpc.aio import ServicerContext

from horde_pb.moderation.v1 import reports_service_pb2 as pb
from horde_pb.moderation.v1.reports_service_pb2_grpc import ReportsServiceServicer
from services.moderation.deps import Deps
from services.moderation.handlers.record_worker_report import record_worker_report
from services.moderation.handlers.record_worker_suspicion import record_worker_suspicion
from services.moderation.wire import reports

type _Context = ServicerContext[Any, Any]


class ReportsServicer(ReportsServiceServicer):
    """ReportsService over these dependencies."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def RecordWorkerReport(
        self, request: pb.RecordWorkerReportRequest, context: _Context
    ) -> pb.RecordWorkerReportResponse:
        recorded = await record_worker_report(reports.worker_report(request), self._deps)
        return pb.RecordWorkerReportResponse(event_id=recorded.event_id, problem_job_recorded=recorded.problem_job)

    @override
    async def RecordWorkerSuspicion(
        self, request: pb.RecordWorkerSuspicionRequest, context: _Context
    ) -> pb.RecordWorkerSuspicionResponse:
        await record_worker_suspicion(reports.suspicion(request), self._deps)
        return pb.RecordWorkerSuspicionResponse()
