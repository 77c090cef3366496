"""What tells waiting pops of jobs: messages of Postgres, and what stood in the queue before they could be heard."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson

from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.waking import Notice

_TELL_WAITING = QUERIES["tell_waiting"]
_LIST_STANDING = QUERIES["list_standing"]
_LIST_OWNED_RUNNING = QUERIES["list_owned_running"]

CHANNEL = "dispatch_waiting"


async def tell_waiting(store: Access, request: UUID) -> None:
    """Tells every dispatch process that jobs of a request wait."""
    await store.fetchval(_TELL_WAITING, [request])


async def list_standing(store: Access) -> Sequence[Notice]:
    """What waits now, by lane."""
    return [read_notice(row["notice"]) for row in await store.fetch(_LIST_STANDING)]


async def owned_running(store: Access, generations: Sequence[UUID], key_hash: str) -> Mapping[UUID, Sequence[UUID]]:
    """Those that run at a worker of this key's account, by request."""
    found: dict[UUID, list[UUID]] = {}
    for row in await store.fetch(_LIST_OWNED_RUNNING, generations, key_hash):
        found.setdefault(row["wp_id"], []).append(row["id"])
    return found


def read_notice(told: str) -> Notice:
    """A message of the channel. Raises ValueError or KeyError for what is none of ours."""
    value: dict[str, Any] = orjson.loads(told)
    models, workers = value["models"], value["workers"]
    return Notice(
        jobs=value["jobs"],
        is_chat=value["chat"],
        models=None if models is None else frozenset(models),
        features=frozenset(value["features"]),
        has_images=value["images"],
        trusted_workers=value["trusted"],
        validated_backends=value["validated"],
        min_speed=value["speed"],
        max_length=value["length"],
        max_context_length=value["context"],
        tools_temperature=value["temperature"],
        user_id=value["user"],
        workers=None if workers is None else frozenset(map(UUID, workers)),
        avoids_workers=value["avoid"],
    )
