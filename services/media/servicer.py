"""Media's RPCs, one line each: wire in, handler, wire out."""

from typing import Any, override

from grpc.aio import ServicerContext

from horde_pb.media.v1 import media_service_pb2 as pb
from horde_pb.media.v1.media_service_pb2_grpc import MediaServiceServicer
from services.media import wire
from services.media.deps import Deps
from services.media.handlers.delete_objects import delete_objects
from services.media.handlers.inline_images import inline_images
from services.media.handlers.offload_messages import offload_messages
from services.media.handlers.sign_images import sign_images
from services.media.handlers.sign_messages import sign_messages
from services.media.handlers.store_images import store_images

type _Context = ServicerContext[Any, Any]


class MediaServicer(MediaServiceServicer):
    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    @override
    async def StoreImages(self, request: pb.StoreImagesRequest, context: _Context) -> pb.StoreImagesResponse:
        stored = await store_images(wire.images_ask(request), self._deps)
        return pb.StoreImagesResponse(keys=stored.keys, sizes=stored.sizes)

    @override
    async def OffloadMessages(
        self, request: pb.OffloadMessagesRequest, context: _Context
    ) -> pb.OffloadMessagesResponse:
        return pb.OffloadMessagesResponse(key=await offload_messages(request.request_id, request.messages, self._deps))

    @override
    async def SignImages(self, request: pb.SignImagesRequest, context: _Context) -> pb.SignImagesResponse:
        return pb.SignImagesResponse(urls=await sign_images(request.keys, request.valid_seconds, self._deps))

    @override
    async def SignMessages(self, request: pb.SignMessagesRequest, context: _Context) -> pb.SignMessagesResponse:
        return pb.SignMessagesResponse(url=await sign_messages(request.request_id, request.valid_seconds, self._deps))

    @override
    async def InlineImages(self, request: pb.InlineImagesRequest, context: _Context) -> pb.InlineImagesResponse:
        return pb.InlineImagesResponse(urls=await inline_images(request.keys, self._deps))

    @override
    async def DeleteObjects(self, request: pb.DeleteObjectsRequest, context: _Context) -> pb.DeleteObjectsResponse:
        return pb.DeleteObjectsResponse(kept=await delete_objects(list(request.keys), self._deps))
