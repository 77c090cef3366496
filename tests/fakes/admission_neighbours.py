"""Moderation and media as admission knows them, both on one server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast, override

import grpc

from horde.contract.refusal import Refusal
from horde.rpc import options
from horde.rpc.handling import Registrar, Surroundings
from horde_pb.media.v1 import media_service_pb2 as media_pb
from horde_pb.media.v1.media_service_pb2_grpc import MediaServiceServicer, add_MediaServiceServicer_to_server
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation_pb
from horde_pb.moderation.v1.moderation_service_pb2_grpc import (
    ModerationServiceServicer,
    add_ModerationServiceServicer_to_server,
)
from horde_pb.vocabulary.v1.caller_pb2 import AddressStanding


class FakeModeration(ModerationServiceServicer):
    """`timeouts` by address; `replaces` is what ScreenPrompt rewrites, word by word; `refuses` is raised by it."""

    def __init__(self) -> None:
        self.timeouts: dict[str, int] = {}
        self.replaces: dict[str, str] = {}
        self.refuses: Refusal | None = None
        self.is_filtering = False
        self.is_away = False
        self.screened: list[moderation_pb.ScreenPromptRequest] = []
        self.checked: list[str] = []

    @override
    async def CheckAddress(self, request: moderation_pb.CheckAddressRequest, context: Any) -> Any:
        await _refuse_when(self.is_away, context)
        self.checked.append(request.address)
        standing = AddressStanding(timeout_seconds=self.timeouts.get(request.address, 0))
        return moderation_pb.CheckAddressResponse(standing=standing)

    @override
    async def GetPolicy(self, request: moderation_pb.GetPolicyRequest, context: Any) -> Any:
        return moderation_pb.GetPolicyResponse(has_filters=self.is_filtering)

    @override
    async def ScreenPrompt(self, request: moderation_pb.ScreenPromptRequest, context: Any) -> Any:
        await _refuse_when(self.is_away, context)
        self.screened.append(request)
        if self.refuses is not None:
            raise self.refuses
        texts = list(request.texts)
        for word, replacement in self.replaces.items():
            texts = [text.replace(word, replacement) for text in texts]
        return moderation_pb.ScreenPromptResponse(rewritten=texts != list(request.texts), texts=texts)


class FakeMedia(MediaServiceServicer):
    """Remembers what was stored, each image as a JPEG of `size` bytes, and deleted.

    `refuses` is raised, `is_broken` fails as a fault does, `is_away` as a lost answer; `cannot_offload` fails for
    messages alone. `holds` keeps the answer of a store back until it is set, `holds_deletes` each delete.
    """

    def __init__(self) -> None:
        self.stored: list[media_pb.StoreImagesRequest] = []
        self.offloaded: list[media_pb.OffloadMessagesRequest] = []
        self.deleted: list[str] = []
        self.size = 1000
        self.cannot_offload = False
        self.holds: asyncio.Event | None = None
        self.holds_deletes: asyncio.Event | None = None
        self.refuses: Refusal | None = None
        self.is_broken = False
        self.is_away = False
        self.asked = 0

    @override
    async def StoreImages(self, request: media_pb.StoreImagesRequest, context: Any) -> Any:
        self.asked += 1
        await _refuse_when(self.is_away, context)
        if self.refuses is not None:
            raise self.refuses
        if self.is_broken:
            await context.abort(grpc.StatusCode.INTERNAL, "broken by a test")
        self.stored.append(request)
        if self.holds is not None:
            await self.holds.wait()
        return media_pb.StoreImagesResponse(
            keys=[f"{request.request_id}_chat_{position}.jpg" for position in range(len(request.urls))],
            sizes=[self.size] * len(request.urls),
        )

    @override
    async def OffloadMessages(self, request: media_pb.OffloadMessagesRequest, context: Any) -> Any:
        await _refuse_when(self.cannot_offload, context)
        self.offloaded.append(request)
        return media_pb.OffloadMessagesResponse(key=f"{request.request_id}_chat_messages.json")

    @override
    async def DeleteObjects(self, request: media_pb.DeleteObjectsRequest, context: Any) -> Any:
        if self.holds_deletes is not None:
            await self.holds_deletes.wait()
        self.deleted.extend(request.keys)
        return media_pb.DeleteObjectsResponse()


async def _refuse_when(is_away: bool, context: Any) -> None:
    if is_away:
        await context.abort(grpc.StatusCode.UNAVAILABLE, "away for a test")


@asynccontextmanager
async def serving_neighbours() -> AsyncIterator[tuple[str, FakeModeration, FakeMedia]]:
    """Where both listen, and both."""
    # The RPCs that admission does not call answer UNIMPLEMENTED, so the classes are abstract on paper.
    moderation = cast("FakeModeration", cast("Any", FakeModeration)())
    media = cast("FakeMedia", cast("Any", FakeMedia)())
    server = grpc.aio.server(options=options.SERVER)
    registrar = cast("grpc.aio.Server", Registrar(server, Surroundings("fake")))
    add_ModerationServiceServicer_to_server(moderation, registrar)
    add_MediaServiceServicer_to_server(media, registrar)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}", moderation, media
    finally:
        await server.stop(0)
