"""What moderation takes of workers: it remembers every report once, as the real one does, and can be away or fail."""

from typing import Any, Self, cast, override

import grpc

from horde_pb.moderation.v1 import reports_service_pb2 as pb
from horde_pb.moderation.v1.reports_service_pb2_grpc import ReportsServiceServicer


class FakeReports(ReportsServiceServicer):
    """`suspicions` by report, `csam` by job. `fails_with`: how every call ends, or those of the ids in `failing`."""

    def __init__(self) -> None:
        self.suspicions: dict[str, pb.RecordWorkerSuspicionRequest] = {}
        self.csam: dict[str, pb.RecordWorkerReportRequest] = {}
        self.fails_with: grpc.StatusCode | None = None
        self.failing: set[str] = set()
        self.calls = 0

    @classmethod
    def new(cls) -> Self:
        """One of these."""
        return cast("Self", cast("Any", cls)())

    @override
    async def RecordWorkerSuspicion(self, request: pb.RecordWorkerSuspicionRequest, context: Any) -> Any:
        await self._break(request.report_id, context)
        self.suspicions[request.report_id] = request
        return pb.RecordWorkerSuspicionResponse()

    @override
    async def RecordWorkerReport(self, request: pb.RecordWorkerReportRequest, context: Any) -> Any:
        await self._break(request.job_id, context)
        self.csam[request.job_id] = request
        return pb.RecordWorkerReportResponse(event_id=1, problem_job_recorded=True)

    async def _break(self, name: str, context: Any) -> None:
        self.calls += 1
        if self.fails_with is not None and (not self.failing or name in self.failing):
            await context.abort(self.fails_with, "broken by a test")
