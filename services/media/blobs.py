"""Objects in an S3 store: put, read, delete, sign. The only place that speaks to it.

boto3 blocks, so every call runs in a thread of a bounded pool; signing asks nobody and only keeps the loop free.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from horde.failures import Outage
from horde.telemetry import logs, tracing
from services.media.rules.object_keys import Room, by_room, room_of
from services.media.settings import MediaSettings

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

log = logs.get(__name__)

_BULK = 250
"""Keys of one DeleteObjects call. S3 takes 1000, but a busy embedded store needs ten seconds for as many."""

_CONNECT_SECONDS = 2
_READ_SECONDS = 10
"""An embedded store's first write after a restart takes five seconds; a call here must outlast it."""

_MISSING = ("404", "NoSuchBucket")
_EXISTS = ("BucketAlreadyOwnedByYou", "BucketAlreadyExists")


class BlobsUnavailable(Outage):
    """The object store cannot be reached, or refused. What was asked may or may not have happened."""

    def __init__(self, detail: str) -> None:
        super().__init__("s3", detail)


@dataclass(frozen=True, slots=True)
class Form:
    """How an object is served: its media type, and the Cache-Control and Content-Encoding it goes out with."""

    kind: str
    cache: str | None = None
    encoding: str | None = None


class Blobs:
    """An open door to the buckets. Every method but `delete` raises BlobsUnavailable."""

    def __init__(self, client: "S3Client", buckets: Mapping[Room, str], threads: ThreadPoolExecutor) -> None:
        self._client = client
        self._buckets = buckets
        self._threads = threads

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: MediaSettings) -> AsyncIterator[Self]:
        """A client that connects when first used, so the store may be down at the start."""
        threads = ThreadPoolExecutor(settings.media_transfers, thread_name_prefix="s3")
        client = await asyncio.get_running_loop().run_in_executor(threads, partial(_client, settings))
        buckets = {Room.IMAGES: settings.source_image_bucket, Room.MESSAGES: settings.chat_messages_bucket}
        try:
            yield cls(client, buckets, threads)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            client.close()

    async def put(self, key: str, body: bytes, form: Form) -> None:
        """Stores one object, in place of one of the same key."""
        bucket = self._buckets[room_of(key)]
        optional: Any = {"CacheControl": form.cache, "ContentEncoding": form.encoding}
        given = {name: value for name, value in optional.items() if value is not None}
        await self._call(
            "PutObject",
            lambda: self._client.put_object(Bucket=bucket, Key=key, Body=body, ContentType=form.kind, **given),
        )

    async def read(self, key: str) -> bytes:
        """The bytes of one object."""
        bucket = self._buckets[room_of(key)]

        def read() -> bytes:
            return self._client.get_object(Bucket=bucket, Key=key)["Body"].read()

        return await self._call("GetObject", read)

    async def sign(self, keys: Sequence[str], *, valid_seconds: int) -> list[str]:
        """A download URL of each key, in order, that holds for `valid_seconds`. The store is not asked."""
        return await self._call("sign", lambda: [self._signed(key, valid_seconds) for key in keys])

    async def delete(self, keys: Iterable[str]) -> list[str]:
        """Deletes objects; a key that is not there counts as deleted. Gives the keys the store did not delete."""
        batches = [
            (self._buckets[room], of_room[start : start + _BULK])
            for room, of_room in by_room(keys).items()
            for start in range(0, len(of_room), _BULK)
        ]
        kept = await asyncio.gather(*(self._delete_batch(bucket, batch) for bucket, batch in batches))
        return [key for batch in kept for key in batch]

    async def check(self) -> None:
        """Raises unless the store answers and has the buckets; makes those it does not have."""
        for bucket in sorted(set(self._buckets.values())):
            await self._call("HeadBucket", partial(self._ensure, bucket))

    async def _delete_batch(self, bucket: str, keys: list[str]) -> list[str]:
        try:
            answer = await self._call(
                "DeleteObjects",
                lambda: self._client.delete_objects(
                    Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
                ),
            )
        except BlobsUnavailable as away:
            log.warning("objects not deleted", objects=len(keys), why=away.detail)
            return keys
        return [error["Key"] for error in answer.get("Errors", ()) if "Key" in error]

    def _signed(self, key: str, valid_seconds: int) -> str:
        where = {"Bucket": self._buckets[room_of(key)], "Key": key}
        return self._client.generate_presigned_url("get_object", Params=where, ExpiresIn=valid_seconds)

    def _ensure(self, bucket: str) -> None:
        try:
            self._client.head_bucket(Bucket=bucket)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _MISSING:
                raise
            try:
                self._client.create_bucket(Bucket=bucket)
            except ClientError as refused:
                if refused.response["Error"]["Code"] not in _EXISTS:
                    raise

    async def _call[T](self, what: str, work: Callable[[], T]) -> T:
        """`what` is what a trace calls it, never a key, a link or a byte."""
        try:
            with tracing.client_span(f"s3 {what}", {"rpc.system": "aws-api", "rpc.method": what}):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except (BotoCoreError, ClientError, OSError) as error:
            raise BlobsUnavailable(f"{type(error).__name__}: {error}") from error


def _client(settings: MediaSettings) -> "S3Client":
    return boto3.client(
        "s3",
        endpoint_url=settings.s3_endpoint,
        aws_access_key_id=settings.s3_access_key,
        aws_secret_access_key=settings.s3_secret_key,
        region_name=settings.s3_region,
        config=Config(
            signature_version="s3v4",
            # Addressing by path is what every store that speaks S3 allows, also one without a name in the DNS.
            s3={"addressing_style": "path"},
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            max_pool_connections=settings.media_transfers,
            retries={"total_max_attempts": 2, "mode": "standard"},
            # Not every store knows the checksums that boto3 adds of late; TLS and the signature guard the bytes.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )
