"""Whom admission asks, and how long it waits. Here proto ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.rpc.client import Neighbour, NeighbourUnavailable
from horde.settings import NeighbourSettings
from horde_pb.media.v1 import media_service_pb2 as media_pb
from horde_pb.media.v1 import media_service_pb2_grpc as media_grpc
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation_pb
from horde_pb.moderation.v1 import moderation_service_pb2_grpc as moderation_grpc

_QUICK = timedelta(seconds=1)
"""A look-up in moderation's memory: later is as good as never."""

_SCREENING = timedelta(seconds=10)
"""A prompt through every filter, four seconds at most, and a refusal with all that comes of it, three."""

_STORING = timedelta(seconds=50)
"""20 images, some fetched, all encoded and stored. Ten less than the gateway waits, so that our refusal reaches it."""

LATE = timedelta(minutes=1)
"""How long after our call has ended one of its puts may still reach the store: media takes back what it finishes, but
media may end too, while the store has the bytes already."""

_DELETING = timedelta(seconds=10)
"""Nobody waits for it, and the queue repeats it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What moderation is told of a prompt."""

    account_id: int
    account_flagged: bool
    account_moderator: bool
    account_education: bool
    address: str
    proxied: bool
    proxy_address: str
    proxy_owner: str
    proxied_account: str
    prompt: str
    texts: Sequence[str]
    models: Sequence[str]
    nsfw_model: bool
    request_id: UUID


class Moderation:
    """The service that knows prompts and addresses. Everything raises NeighbourUnavailable when it is away."""

    def __init__(self, neighbour: Neighbour) -> None:
        stub = moderation_grpc.ModerationServiceStub(neighbour.channel)
        self._check = neighbour.once(stub.CheckAddress, deadline=_QUICK)
        self._policy = neighbour.once(stub.GetPolicy, deadline=_QUICK)
        self._screen = neighbour.once(stub.ScreenPrompt, deadline=_SCREENING)

    async def timeout_seconds(self, address: str) -> int:
        """Seconds until the address is out of its timeout; 0: it is in none."""
        answer = await self._check(moderation_pb.CheckAddressRequest(address=address))
        return answer.standing.timeout_seconds

    async def has_filters(self) -> bool:
        """Whether any filter exists, so that every prompt has to be screened."""
        return (await self._policy(moderation_pb.GetPolicyRequest())).has_filters

    async def rewritten(self, asked: Screening) -> list[str] | None:
        """The texts as they are to be used; None: as they are. Raises Refusal(CorruptPrompt, PromptRewrittenAway)."""
        answer = await self._screen(
            moderation_pb.ScreenPromptRequest(
                account_id=asked.account_id,
                account_flagged=asked.account_flagged,
                account_moderator=asked.account_moderator,
                account_education=asked.account_education,
                address=asked.address,
                proxied=asked.proxied,
                proxy_address=asked.proxy_address,
                proxy_owner=asked.proxy_owner,
                proxied_account=asked.proxied_account,
                prompt=asked.prompt,
                texts=asked.texts,
                models=asked.models,
                nsfw_model=asked.nsfw_model,
                request_id=str(asked.request_id),
            )
        )
        return list(answer.texts) if answer.rewritten else None


class Media:
    """The service that keeps images and offloaded messages."""

    def __init__(self, neighbour: Neighbour) -> None:
        stub = media_grpc.MediaServiceStub(neighbour.channel)
        # Once: a repeat would fetch and store again beside a first call that may still run.
        self._store = neighbour.once(stub.StoreImages, deadline=_STORING)
        self._offload = neighbour.once(stub.OffloadMessages, deadline=_STORING)
        self._delete = neighbour.repeatable(stub.DeleteObjects, deadline=_DELETING)

    async def store_images(self, request: UUID, urls: Sequence[str], *, max_total_bytes: int) -> Sequence[int]:
        """Stores every image of a request, or none; the bytes of each stored JPEG.

        Raises media's Refusal, or ChatImageStorageUnavailable.
        """
        asked = media_pb.StoreImagesRequest(request_id=str(request), urls=urls, max_total_bytes=max_total_bytes)
        try:
            return (await self._store(asked)).sizes
        except NeighbourUnavailable as away:
            raise _unavailable() from away

    async def offload_messages(self, request: UUID, messages: bytes) -> None:
        """Stores the messages as one object. Raises Refusal (ChatImageStorageUnavailable)."""
        try:
            await self._offload(media_pb.OffloadMessagesRequest(request_id=str(request), messages=messages))
        except NeighbourUnavailable as away:
            raise _unavailable() from away

    async def delete_objects(self, keys: Sequence[str]) -> None:
        """Has objects deleted now, which are also queued. Raises NeighbourUnavailable."""
        await self._delete(media_pb.DeleteObjectsRequest(keys=keys))


def _unavailable() -> Refusal:
    return Refusal(
        reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE, "The images or messages cannot be stored at the moment; try again."
    )


class Neighbours:
    """The open channels."""

    def __init__(self, settings: NeighbourSettings) -> None:
        self._open = [
            Neighbour(settings.moderation_target, name="moderation", settings=settings),
            Neighbour(settings.media_target, name="media", settings=settings),
        ]
        self.moderation = Moderation(self._open[0])
        self.media = Media(self._open[1])

    async def close(self) -> None:
        """Closes both."""
        for neighbour in self._open:
            await neighbour.close()
