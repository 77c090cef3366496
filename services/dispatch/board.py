"""The messages that hold now, from a short memory: each pop carries those for its worker, at no read of its own."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from services.dispatch.deps import Deps
from services.dispatch.repo import messages as repo
from services.dispatch.rules.messages import Message

_BOARD = "messages that hold"

_FRESH_SECONDS = 2.0
"""A message that another replica took in is told from so much later on."""

_MOST = 5_000
"""Messages kept in memory; more than anybody writes who means well, and 50 MB at their longest."""

_TOLD = 20
"""Messages one worker is told at once, the newest first: an answer is no archive."""

type Board = Mapping[UUID | None, Sequence[Message]]


async def messages_for(worker: UUID, deps: Deps) -> Sequence[Message]:
    """What a worker is told now: what is for it, then what is for all. Raises Outage."""
    board = await _board(deps)
    if not board:
        return ()
    now = deps.clock.now()
    told = (*board.get(worker, ()), *board.get(None, ()))
    return [message for message in told if message.expiry > now][:_TOLD]


def changed(deps: Deps) -> None:
    """A message was written or removed here: it shows at once."""
    deps.memory.forget(_BOARD)


async def _board(deps: Deps) -> Board:
    known = deps.memory.get(_BOARD, now=deps.clock.monotonic())
    if isinstance(known, dict):
        return known
    return await deps.memory.ask_once(_BOARD, lambda: _read(deps))


async def _read(deps: Deps) -> Board:
    changes = deps.memory.changes
    board: dict[UUID | None, list[Message]] = {}
    for message in await repo.active(deps.store, deps.clock.now(), at_most=_MOST):
        board.setdefault(message.worker_id, []).append(message)
    deps.memory.put(_BOARD, board, _FRESH_SECONDS, now=deps.clock.monotonic(), changes=changes)
    return board
