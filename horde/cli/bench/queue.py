"""A long queue for `horde bench pop`: waiting requests of chosen kinds, written straight into dispatch's tables."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from horde.cli.bench.crowd import MODEL
from horde.store import Store, queries

_SQL = queries("horde.cli")

PERCENT_THAT_FIT = 1
"""In every mix but `all` and `empty`: the rest is what the pop has to pass by, and stands before what fits."""

LENGTH, CONTEXT = 1000, 8192
"""What the popping worker declares, in tokens. Its length cuts through a bucket of lanes, the harder case."""

_AHEAD = 10_000
"""Queue priority, in kudos, of what does not fit."""

_OTHERS = 200
"""Other models, and other workers that are named."""


@dataclass(frozen=True)
class Shape:
    """Requests alike: columns of dispatch.waiting_prompts, and by how many tokens their lengths vary."""

    columns: Mapping[str, object]
    spread: int = 0


def _chat(*, spread: int = 0, **changed: object) -> Shape:
    columns: dict[str, object] = {
        "is_chat": True,
        "models": [MODEL],
        "max_length": 512,
        "max_context_length": 4096,
        "workers": [],
        "worker_blacklist": False,
        "chat_required_features": [],
        "has_images": False,
        "trusted_workers": False,
        "validated_backends": False,
        "min_speed": 0,
        "extra_priority": 0,
    }
    return Shape({**columns, **changed}, spread)


def _fitting() -> list[Shape]:
    lengths = [_chat(max_length=length, max_context_length=2048, spread=length // 4) for length in (64, 256, 512)]
    return [*lengths, _chat(max_context_length=8192), _chat(is_chat=False)]


def _lacking_features() -> list[Shape]:
    wanted = (["vision"], ["tools"], ["seed", "tools"], ["reasoning_effort"], ["json_schema", "tools"])
    return [_chat(chat_required_features=features, extra_priority=_AHEAD) for features in wanted]


def _too_long() -> list[Shape]:
    return [
        _chat(max_length=4096, spread=1000, extra_priority=_AHEAD),
        _chat(max_length=2048, spread=500, extra_priority=_AHEAD),
        # in the bucket that the worker's own limit cuts through
        _chat(max_length=1024, spread=1023 - LENGTH, extra_priority=_AHEAD),
        _chat(max_context_length=16384, extra_priority=_AHEAD),
    ]


def _other_models() -> list[Shape]:
    names = [f"bench/Other-{number}" for number in range(_OTHERS)]
    lists = [names[place : place + 3] for place in range(0, _OTHERS, 3)]
    return [
        *(_chat(models=[name], extra_priority=_AHEAD) for name in names),
        *(_chat(is_chat=False, models=several, extra_priority=_AHEAD) for several in lists),
    ]


def _other_workers() -> list[Shape]:
    return [_chat(workers=[str(uuid4())], extra_priority=_AHEAD) for _ in range(_OTHERS)]


MIXES = ("all", "features", "length", "models", "target", "empty")


def _in_the_way(mix: str) -> list[Shape]:
    match mix:
        case "features":
            return _lacking_features()
        case "length":
            return _too_long()
        case "models":
            return _other_models()
        case "target":
            return _other_workers()
        case "empty":
            return [*_lacking_features(), *_too_long(), *_other_models(), *_other_workers()]
    return []


class Queue:
    """The waiting requests of one mix. At least `reserve` that fit are kept there, unless none shall."""

    def __init__(self, store: Store, mix: str, *, reserve: int) -> None:
        self._store = store
        self._fitting = [] if mix == "empty" else _fitting()
        self._in_the_way = _in_the_way(mix)
        self._reserve = reserve
        self._left = 0
        self._others = 0

    async def grow(self, waiting: int) -> None:
        """Fills up to so many waiting requests, and lets Postgres settle down as it would within a minute."""
        await self.add(waiting)
        await self._store.execute(_SQL["settle_queue"])

    async def add(self, waiting: int) -> None:
        """Fills up to so many waiting requests, and leaves it at that."""
        share = 1.0 if not self._in_the_way else PERCENT_THAT_FIT / 100 if self._fitting else 0.0
        fitting = round(waiting * share)
        await self._add(self._in_the_way, waiting - fitting - self._others)
        self._others = waiting - fitting
        await self._add_fitting(fitting)
        await self.keep()

    async def taken(self) -> None:
        """One that fits was handed out; others take the place of many at a time."""
        self._left -= 1
        await self.keep()

    async def keep(self) -> None:
        """Refills what fits when half the reserve is used up."""
        if self._fitting and self._left < self._reserve // 2:
            await self._add_fitting(self._reserve)

    async def _add_fitting(self, wanted: int) -> None:
        missing = wanted - self._left
        if self._fitting and missing > 0:
            self._left = wanted
            await self._add(self._fitting, missing)

    async def _add(self, shapes: Sequence[Shape], amount: int) -> None:
        if not shapes:
            return
        each, rest = divmod(max(amount, 0), len(shapes))
        lucky = set(random.sample(range(len(shapes)), rest))
        for place, shape in enumerate(shapes):
            if count := each + (place in lucky):
                await self._store.execute(_SQL["fill_queue"], count, json.dumps(shape.columns), shape.spread)

    async def empty(self) -> None:
        """Takes everything away again."""
        await self._store.execute(_SQL["empty_queue"])
