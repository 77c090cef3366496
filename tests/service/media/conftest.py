"""The media service that each test of this folder gets: real store, real Redis, real decoders."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from horde.live import Live
from horde_pb.media.v1 import media_service_pb2 as pb
from horde_pb.media.v1.media_service_pb2_grpc import MediaServiceStub, add_MediaServiceServicer_to_server
from services.media.__main__ import opened
from services.media.blobs import Blobs
from services.media.decoding import Decoders
from services.media.deps import Deps
from services.media.events import Events
from services.media.live import DeleteQueue
from services.media.loops.retry_deletes import retry_deletes
from services.media.servicer import MediaServicer
from services.media.settings import MediaSettings
from tests.fakes.serving import served
from tests.servers import ObjectStore

MIB = 1024 * 1024
DEADLINE = timedelta(seconds=30)


@dataclass(frozen=True)
class Media:
    """The service as its callers see it, and what stands around it."""

    stub: MediaServiceStub
    deps: Deps
    live: Live
    call: Callable[..., Any]

    async def store(self, request_id: str, *urls: str, max_total_bytes: int = 25 * MIB) -> list[str]:
        ask = pb.StoreImagesRequest(request_id=request_id, urls=urls, max_total_bytes=max_total_bytes)
        return list((await self.call(self.stub.StoreImages, ask)).keys)

    async def sign(self, *keys: str, valid_seconds: int = 600) -> list[str]:
        ask = pb.SignImagesRequest(keys=keys, valid_seconds=valid_seconds)
        return list((await self.call(self.stub.SignImages, ask)).urls)

    async def inline(self, *keys: str) -> list[str]:
        return list((await self.call(self.stub.InlineImages, pb.InlineImagesRequest(keys=keys))).urls)

    async def offload(self, request_id: str, messages: object) -> str:
        ask = pb.OffloadMessagesRequest(request_id=request_id, messages=json.dumps(messages).encode())
        key: str = (await self.call(self.stub.OffloadMessages, ask)).key
        return key

    async def sign_messages(self, request_id: str, *, valid_seconds: int = 120) -> str:
        ask = pb.SignMessagesRequest(request_id=request_id, valid_seconds=valid_seconds)
        url: str = (await self.call(self.stub.SignMessages, ask)).url
        return url

    async def delete(self, *keys: str) -> list[str]:
        return list((await self.call(self.stub.DeleteObjects, pb.DeleteObjectsRequest(keys=keys))).kept)

    async def owed(self) -> set[str]:
        return set(await self.deps.queue.some(1000))

    async def retry(self) -> None:
        await retry_deletes(self.deps.blobs, self.deps.queue, self.deps.events)


@pytest.fixture
def media_settings(s3: ObjectStore, redis_url: str) -> MediaSettings:
    """Settings of a service on the session's servers, with a bucket of this test's own."""
    return MediaSettings(
        redis_url=redis_url,
        s3_endpoint=s3.endpoint,
        s3_access_key=s3.access_key,
        s3_secret_key=s3.secret_key,
        source_image_bucket=s3.bucket("images"),
        chat_messages_bucket=s3.bucket("messages"),
    )


@asynccontextmanager
async def _serving(settings: MediaSettings) -> AsyncIterator[Media]:
    events = Events()
    async with Live.open(settings) as live, Blobs.open(settings) as blobs, Decoders.open(settings, events) as decoders:
        deps = opened(settings, blobs, decoders, DeleteQueue(live), events)
        async with served("media", partial(add_MediaServiceServicer_to_server, MediaServicer(deps))) as neighbour:

            async def call(method: Any, request: Any) -> Any:
                return await neighbour.once(method, deadline=DEADLINE)(request)

            yield Media(MediaServiceStub(neighbour.channel), deps, live, call)
        await deps.settle()


@pytest.fixture
def serving_media() -> Callable[[MediaSettings], AbstractAsyncContextManager[Media]]:
    """Serves media with settings of the test's choice."""
    return _serving


@pytest.fixture
async def media(media_settings: MediaSettings) -> AsyncIterator[Media]:
    """A media service with everything in order."""
    async with _serving(media_settings) as service:
        yield service
