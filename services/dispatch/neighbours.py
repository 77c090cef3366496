"""The services that dispatch asks, in the words of its rules. Every call has a deadline and is safe to repeat."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from google.protobuf.timestamp_pb2 import Timestamp

from horde.rpc.client import Neighbour
from horde.settings import NeighbourSettings
from horde_pb.media.v1 import media_service_pb2 as media_pb
from horde_pb.media.v1.media_service_pb2_grpc import MediaServiceStub
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation_pb
from horde_pb.moderation.v1 import reports_service_pb2 as reports_pb
from horde_pb.moderation.v1.moderation_service_pb2_grpc import ModerationServiceStub
from horde_pb.moderation.v1.reports_service_pb2_grpc import ReportsServiceStub
from horde_pb.progress.v1 import progress_service_pb2 as progress_pb
from horde_pb.progress.v1.progress_service_pb2_grpc import ProgressServiceStub
from services.dispatch.rules.streams import Posted, Signal, StreamLease
from services.dispatch.rules.suspicions import CsamReported, WorkerSuspected

_QUICK = timedelta(seconds=1)
"""For what a caller waits for although it may fail: a pop must not hang on a neighbour."""

_USUAL = timedelta(seconds=5)

_IMAGES = timedelta(seconds=8)
"""For reading up to 25 MiB from the object store. The gateway waits 15 seconds for a pop: of a job whose images do not
come there is time left to give it back and to hand another one out."""

_DELETES = timedelta(seconds=20)
"""For a batch of objects that nobody waits for."""


class Neighbours:
    """progress, media and moderation. Each method raises Outage (unreachable) or Refusal (their no)."""

    def __init__(self, settings: NeighbourSettings) -> None:
        self._channels = (
            Neighbour(settings.progress_target, name="progress", settings=settings),
            Neighbour(settings.media_target, name="media", settings=settings),
            Neighbour(settings.moderation_target, name="moderation", settings=settings),
        )
        progress, media, moderation = self._channels
        live = ProgressServiceStub(progress.channel)
        self._open_lease = progress.repeatable(live.OpenLease, deadline=_QUICK, tries=2)
        self._close_lease = progress.repeatable(live.CloseLease, deadline=_USUAL)
        self._read_posted = progress.repeatable(live.ReadPosted, deadline=_QUICK, tries=2)
        self._cancel_leases = progress.repeatable(live.CancelLeases, deadline=_QUICK, tries=2)
        self._publish = progress.repeatable(live.PublishEvents, deadline=_USUAL)
        images = MediaServiceStub(media.channel)
        self._sign_images = media.repeatable(images.SignImages, deadline=_USUAL)
        self._sign_messages = media.repeatable(images.SignMessages, deadline=_USUAL)
        self._inline_images = media.repeatable(images.InlineImages, deadline=_IMAGES)
        self._delete_objects = media.repeatable(images.DeleteObjects, deadline=_DELETES)
        standing = ModerationServiceStub(moderation.channel)
        reports = ReportsServiceStub(moderation.channel)
        self._record_suspicion = moderation.repeatable(reports.RecordWorkerSuspicion, deadline=_USUAL)
        self._record_report = moderation.repeatable(reports.RecordWorkerReport, deadline=_USUAL)
        self._check_address = moderation.repeatable(standing.CheckAddress, deadline=_QUICK, tries=2)

    async def close(self) -> None:
        """Ends the connections."""
        for channel in self._channels:
            await channel.close()

    async def address_timeout(self, address: str) -> int:
        """Seconds until this address may connect again; 0: now."""
        answer = await self._check_address(moderation_pb.CheckAddressRequest(address=address))
        return answer.standing.timeout_seconds

    async def open_lease(self, lease: StreamLease) -> None:
        """Lets the worker post the progress of a generation it just got."""
        await self._open_lease(
            progress_pb.OpenLeaseRequest(
                generation_id=lease.generation_id,
                request_id=lease.request_id,
                worker_id=lease.worker_id,
                model=lease.model,
                owner_id=lease.owner_id,
                key=lease.key,
                max_bytes=lease.max_bytes,
                fake=lease.fake,
                started=lease.started.timestamp(),
                job_ttl_seconds=lease.job_ttl_seconds,
                lease_cap_seconds=lease.lease_cap_seconds,
                trusted=lease.trusted,
            )
        )

    async def close_lease(self, generation_id: str, request_id: str, *, ended: bool) -> None:
        """Ends a generation's lease; `ended` when it faulted, so that its stream says so."""
        await self._close_lease(
            progress_pb.CloseLeaseRequest(generation_id=generation_id, request_id=request_id, ended=ended)
        )

    async def read_posted(self, request_id: str, generation_ids: Sequence[str]) -> Mapping[str, Posted]:
        """What each generation has posted so far, by generation id."""
        answer = await self._read_posted(
            progress_pb.ReadPostedRequest(request_id=request_id, generation_ids=generation_ids)
        )
        return {
            posted.generation_id: Posted(
                posted.content_characters if posted.HasField("content_characters") else None, posted.accepted_bytes
            )
            for posted in answer.posted
        }

    async def cancel_leases(self, request_id: str, generation_ids: Sequence[str]) -> None:
        """Tells the workers of these generations, at their next post, that nobody wants them any more."""
        await self._cancel_leases(progress_pb.CancelLeasesRequest(request_id=request_id, generation_ids=generation_ids))

    async def publish(self, request_id: str, signals: Sequence[Signal]) -> None:
        """Wakes whoever waits for the request."""
        told = [
            progress_pb.Signal(
                event=signal.event,
                generations=signal.generations,
                fault_reason=signal.fault_reason,
                fault_rc=signal.fault_rc,
            )
            for signal in signals
        ]
        await self._publish(progress_pb.PublishEventsRequest(request_id=request_id, signals=told))

    async def sign_images(self, keys: Sequence[str], *, valid_seconds: int) -> list[str]:
        """A download URL for each key."""
        answer = await self._sign_images(media_pb.SignImagesRequest(keys=keys, valid_seconds=valid_seconds))
        return list(answer.urls)

    async def inline_images(self, keys: Sequence[str]) -> list[str]:
        """A data URL with the bytes of each key."""
        answer = await self._inline_images(media_pb.InlineImagesRequest(keys=keys))
        return list(answer.urls)

    async def sign_messages(self, request_id: str, *, valid_seconds: int) -> str:
        """A download URL of an offloaded request's messages."""
        asked = media_pb.SignMessagesRequest(request_id=request_id, valid_seconds=valid_seconds)
        return (await self._sign_messages(asked)).url

    async def delete_objects(self, keys: Sequence[str]) -> list[str]:
        """Has objects deleted whose row is gone; gives the keys that the store kept."""
        return list((await self._delete_objects(media_pb.DeleteObjectsRequest(keys=keys))).kept)

    async def record_suspicion(self, report: WorkerSuspected) -> None:
        """Adds to the history of a worker's suspicions."""
        await self._record_suspicion(
            reports_pb.RecordWorkerSuspicionRequest(
                report_id=str(report.id),
                worker_id=report.worker_id,
                worker_name=report.worker_name,
                account_id=report.owner_id,
                suspicion_id=report.suspicion,
                detail=report.detail,
                paused=report.paused,
                happened=_timestamp(report.happened),
            )
        )

    async def record_csam(self, report: CsamReported) -> None:
        """Has a worker's report kept as evidence."""
        await self._record_report(
            reports_pb.RecordWorkerReportRequest(
                request_id=report.request_id,
                job_id=report.job_id,
                worker_id=report.worker_id,
                worker_name=report.worker_name,
                account_id=report.user_id,
                proxied_account=report.proxied_account,
                origin=report.origin,
                models=report.models,
                submitted_prompt=report.submitted_prompt,
                effective_prompt=report.effective_prompt,
                reported=_timestamp(report.happened),
            )
        )


def _timestamp(moment: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(moment)
    return made
