"""How objects are named, and which bucket a name belongs to. Chat reference, Images and Messages offload."""

from collections.abc import Iterable
from enum import StrEnum

from horde.contract.chat.images import MESSAGES_SUFFIX, image_key


class Room(StrEnum):
    """The two places of objects; each may be a bucket of its own."""

    IMAGES = "images"
    MESSAGES = "messages"


def image_keys(request_id: str, count: int) -> tuple[str, ...]:
    """The keys of a request's images, counted from 0 in the order of the request."""
    return tuple(image_key(request_id, number) for number in range(count))


def room_of(key: str) -> Room:
    """Where an object lies. The suffix alone tells, so that a delete retried much later finds the right bucket."""
    return Room.MESSAGES if key.endswith(MESSAGES_SUFFIX) else Room.IMAGES


def by_room(keys: Iterable[str]) -> dict[Room, list[str]]:
    """The keys of each room, in their order; a room without keys is absent."""
    rooms: dict[Room, list[str]] = {}
    for key in dict.fromkeys(keys):
        rooms.setdefault(room_of(key), []).append(key)
    return rooms
