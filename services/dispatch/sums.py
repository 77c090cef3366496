"""Sums over the whole queue or fleet, from a short memory: what a sum costs decides how long it holds.

One caller at a time asks; a sum over a very long queue then never takes more than a twentieth of a connection's time.
"""

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass

from services.dispatch.deps import Deps

_FRESH_SECONDS = 1.0
"""How old a quick sum may be: the queue moves with every pop."""

_SHARE = 20
"""A slow sum holds for so many times as long as it took."""


@dataclass(frozen=True, slots=True)
class _Sum[T]:
    value: T


async def summed[T](key: Hashable, ask: Callable[[], Awaitable[T]], deps: Deps) -> T:
    """What `ask` answered lately, or answers now. Raises what it raises; a failure is not kept."""
    known = deps.memory.get(key, now=deps.clock.monotonic())
    if isinstance(known, _Sum):
        value: T = known.value
        return value
    return await deps.memory.ask_once(key, lambda: _asked(key, ask, deps))


async def _asked[T](key: Hashable, ask: Callable[[], Awaitable[T]], deps: Deps) -> T:
    started = deps.clock.monotonic()
    value = await ask()
    ended = deps.clock.monotonic()
    deps.memory.put(key, _Sum(value), max(_FRESH_SECONDS, (ended - started) * _SHARE), now=ended)
    return value
