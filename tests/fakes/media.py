"""A media service without a store: every key has a URL."""

import asyncio
from typing import Any, Self, cast

import grpc

from horde_pb.media.v1 import media_service_pb2 as pb
from horde_pb.media.v1.media_service_pb2_grpc import MediaServiceServicer


class FakeMedia(MediaServiceServicer):
    """Remembers what it signed and deleted. `is_down` makes every call fail; images come while `is_reading` is set."""

    def __init__(self) -> None:
        self.signed: list[pb.SignImagesRequest] = []
        self.messages_signed: list[pb.SignMessagesRequest] = []
        self.deleted: list[str] = []
        self.is_down = False
        self.is_reading = asyncio.Event()
        self.is_reading.set()
        self.asked_within: list[float] = []
        """The seconds that each caller of InlineImages waits."""

    @classmethod
    def new(cls) -> Self:
        """One of these. RPCs that dispatch never calls answer UNIMPLEMENTED, so the class is abstract on paper."""
        return cast("Self", cast("Any", cls)())

    async def SignImages(self, request: pb.SignImagesRequest, context: Any) -> pb.SignImagesResponse:
        await self._fail_when_down(context)
        self.signed.append(request)
        return pb.SignImagesResponse(urls=[f"https://objects.test/{key}" for key in request.keys])

    async def SignMessages(self, request: pb.SignMessagesRequest, context: Any) -> pb.SignMessagesResponse:
        await self._fail_when_down(context)
        self.messages_signed.append(request)
        return pb.SignMessagesResponse(url=f"https://objects.test/{request.request_id}_chat_messages.json")

    async def InlineImages(self, request: pb.InlineImagesRequest, context: Any) -> pb.InlineImagesResponse:
        await self._fail_when_down(context)
        self.asked_within.append(context.time_remaining())
        await self.is_reading.wait()
        return pb.InlineImagesResponse(urls=[f"data:image/jpeg;base64,{key}" for key in request.keys])

    async def DeleteObjects(self, request: pb.DeleteObjectsRequest, context: Any) -> pb.DeleteObjectsResponse:
        await self._fail_when_down(context)
        self.deleted.extend(request.keys)
        return pb.DeleteObjectsResponse()

    async def _fail_when_down(self, context: Any) -> None:
        if self.is_down:
            await context.abort(grpc.StatusCode.INTERNAL, "down, as the test wants it")
