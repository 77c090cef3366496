"""The bucket of evidence: put, delete, list, sign. The only place of moderation that speaks to an object store.

It is apart from every other bucket, with a token of its own, and no other service reaches it. boto3 blocks, so every
call runs in a thread; signing asks nobody. Without all four variables there is no store: texts stay in their rows.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import boto3
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError, ClientError

from horde.failures import Outage
from horde.telemetry import tracing
from services.moderation.rules.evidence import event_of_object, evidence_object_key
from services.moderation.settings import ModerationServiceSettings

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

LINK_SECONDS = 600

_THREADS = 4
_CONNECT_SECONDS = 3
_READ_SECONDS = 10

_BULK = 250
"""Keys of one DeleteObjects call. S3 takes 1000; an embedded store needs as long for them as we wait for an answer."""

_LISTED = 1000

_GONE = frozenset({"NoSuchKey", "NoSuchVersion", "404"})
"""Codes by which some stores tell of each object that was not there: that is what was wanted."""


class EvidenceUnavailable(Outage):
    """The evidence store cannot be reached, or refused. What was asked may or may not have happened."""

    def __init__(self, why: BaseException) -> None:
        # The type alone: the message of a refused put could quote what was put.
        super().__init__("the evidence store", type(why).__name__)


class EvidenceStore:
    """An open door to the bucket of evidence; it connects when first used, so the store may be down at the start."""

    def __init__(self, settings: ModerationServiceSettings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="evidence")
        self._making = threading.Lock()  # of the threads alone: building a client takes a while
        self._made: S3Client | None = None

    @property
    def is_configured(self) -> bool:
        """Whether there is a store at all."""
        return not self.missing

    @property
    def missing(self) -> tuple[str, ...]:
        """The variables that are not set, by name."""
        settings = self._settings
        needed = {
            "R2_EVIDENCE_ACCOUNT": settings.evidence_account,
            "R2_EVIDENCE_BUCKET": settings.evidence_bucket,
            "EVIDENCE_AWS_ACCESS_KEY_ID": settings.evidence_access_key,
            "EVIDENCE_AWS_SECRET_ACCESS_KEY": settings.evidence_secret_key,
        }
        return tuple(name for name, value in needed.items() if not value)

    def link(self, event_id: int) -> str | None:
        """A link to the object of an event that holds for ten minutes; None without a store. Nobody is asked."""
        if not self.is_configured:
            return None
        settings = self._settings
        # The client's own way works the endpoint out anew for each link, at three times the cost; a page has a hundred.
        request = AWSRequest(
            "GET",
            f"{(settings.evidence_account or '').rstrip('/')}/{self._bucket}/{evidence_object_key(event_id)}",
            params={"response-cache-control": "private, no-store"},
        )
        signer = Credentials(settings.evidence_access_key or "", settings.evidence_secret_key or "")
        S3SigV4QueryAuth(signer, "s3", settings.evidence_region, expires=LINK_SECONDS).add_auth(request)
        return request.url

    async def put(self, event_id: int, body: bytes) -> None:
        """Stores an event's object, in place of one that is there. Raises EvidenceUnavailable."""
        key = evidence_object_key(event_id)
        await self._call(
            "PutObject",
            lambda client: client.put_object(
                Bucket=self._bucket,
                Key=key,
                Body=body,
                ContentType="application/json",
                CacheControl="private, no-store",
            ),
        )

    async def delete(self, events: Collection[int]) -> set[int]:
        """Deletes the objects of events; one that is not there counts as deleted. Gives the events it failed for.

        Raises EvidenceUnavailable when the first call as a whole failed; then any object may be gone or not.
        """
        ids = sorted(events)
        failed: set[int] = set()
        for start in range(0, len(ids), _BULK):
            try:
                failed |= await self._delete_batch(ids[start : start + _BULK])
            except EvidenceUnavailable:
                if start == 0:
                    raise
                # What the calls before deleted is gone, and its rows have to say so.
                return failed.union(ids[start:])
        return failed

    async def listed(self) -> AsyncIterator[list[int]]:
        """The events that have an object, page by page. Raises EvidenceUnavailable."""
        after = ""
        while True:
            page = await self._call(
                "ListObjectsV2",
                lambda client, after=after: client.list_objects_v2(  # type: ignore[misc]  # mypy takes no default for a lambda's type
                    Bucket=self._bucket, Prefix="evidence/", StartAfter=after, MaxKeys=_LISTED
                ),
            )
            keys = [found["Key"] for found in page.get("Contents", ()) if "Key" in found]
            if not keys:
                return
            yield [event for key in keys if (event := event_of_object(key)) is not None]
            after = keys[-1]

    def close(self) -> None:
        """Lets go of the connections. Waits for nothing: calls under way end by themselves, the others never begin."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._made is not None:
            self._made.close()

    async def _delete_batch(self, ids: Sequence[int]) -> set[int]:
        objects = [{"Key": evidence_object_key(event_id)} for event_id in ids]
        answer = await self._call(
            "DeleteObjects",
            lambda client: client.delete_objects(Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}),  # type: ignore[typeddict-item]  # its stubs want what S3 does not
        )
        errors = [error for error in answer.get("Errors", ()) if error.get("Code") not in _GONE]
        kept = {event_of_object(error.get("Key", "")) for error in errors}
        # An error that does not say which object it is of may be of any.
        return {event_id for event_id in ids if kept & {event_id, None}}

    @property
    def _bucket(self) -> str:
        return self._settings.evidence_bucket or ""

    async def _call[T](self, what: str, work: "Callable[[S3Client], T]") -> T:
        try:
            with tracing.client_span(f"s3 {what}", {"rpc.system": "aws-api", "rpc.method": what}):
                return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(self._client()))
        except (BotoCoreError, ClientError, OSError) as error:
            raise EvidenceUnavailable(error) from None

    def _client(self) -> "S3Client":
        with self._making:
            if self._made is None:
                self._made = _client(self._settings)
            return self._made


def _client(settings: ModerationServiceSettings) -> "S3Client":
    return boto3.client(
        "s3",
        endpoint_url=settings.evidence_account,
        aws_access_key_id=settings.evidence_access_key,
        aws_secret_access_key=settings.evidence_secret_key,
        region_name=settings.evidence_region,
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            max_pool_connections=_THREADS,
            retries={"total_max_attempts": 2, "mode": "standard"},
            # Not every store knows the checksums that boto3 adds of late; TLS and the signature guard the bytes.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
