"""The connections of one process. Taking and giving back a healthy one never leaves the running task.

The driver's own pool puts a time-out and a task around each loan, which cost more than a small statement itself.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncpg

from horde.store.errors import CLOSED
from horde.telemetry.metrics import Counter

type Connection = asyncpg.Connection[asyncpg.Record]

_TIMEOUTS = Counter("horde_db_pool_timeout_total", "Statements that waited for a free connection in vain.")

_CALM_SECONDS = 5.0
"""How long a connection may take to get over a statement that was given up."""


class Pool:
    """At most `size` connections, each made when it is first needed. Raises what the driver raises."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], size: int) -> None:
        self._connect = connect
        self._size = size
        # The last one given back is lent first: its caches are warm.
        self._idle: list[Connection] = []
        self._lent: set[Connection] = set()
        # Places taken: by the lent, by those being made, and by those that recover.
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._calming: set[asyncio.Task[None]] = set()
        self._all_back = asyncio.Event()

    def open(self) -> int:
        """How many connections there are."""
        return len(self._idle) + len(self._lent)

    def idle(self) -> int:
        """How many of them nobody uses."""
        return len(self._idle)

    async def acquire(self, seconds: float) -> Connection:
        """A connection, new when none is idle. Raises TimeoutError after so many seconds without a free place."""
        if self._taken < self._size:
            self._taken += 1
        else:
            await self._turn(seconds)
        try:
            connection = self._idle_one() or await self._connect()
        except BaseException:
            self._give_place_up()
            raise
        self._lent.add(connection)
        return connection

    def release(self, connection: Connection, *, upset: bool = False) -> None:
        """Gives a connection back. `upset`: a statement on it was given up, so it has to recover first."""
        if upset and not connection.is_closed():
            task = asyncio.create_task(self._calm(connection), name="calm a connection")
            self._calming.add(task)
            task.add_done_callback(self._calming.discard)
        else:
            self._take_back(connection)

    def drop(self, connection: Connection) -> None:
        """Takes a connection back whose state nobody knows: it is ended."""
        connection.terminate()
        self._take_back(connection)

    async def close(self) -> None:
        """Lets what was lent come back, then ends every connection."""
        while self._taken:
            self._all_back.clear()
            await self._all_back.wait()
        await asyncio.gather(*(connection.close() for connection in self._idle))
        self._idle.clear()

    def terminate(self) -> None:
        """Ends every connection now."""
        for task in self._calming:
            task.cancel()
        for connection in (*self._idle, *self._lent):
            connection.terminate()
        self._idle.clear()

    def _idle_one(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    def _take_back(self, connection: Connection) -> None:
        self._lent.discard(connection)
        if not connection.is_closed():
            self._idle.append(connection)
        self._give_place_up()

    def _give_place_up(self) -> None:
        """The first who waits takes the place over; without anybody it is free."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._taken -= 1
        if not self._taken:
            self._all_back.set()

    async def _turn(self, seconds: float) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except BaseException as reason:
            if isinstance(reason, TimeoutError):
                _TIMEOUTS.inc()
            if waiter.done() and not waiter.cancelled():
                self._give_place_up()  # it was given to someone who no longer wants it
            raise

    async def _calm(self, connection: Connection) -> None:
        """Waits until the server has dropped the statement, which the driver has asked it to."""
        try:
            async with asyncio.timeout(_CALM_SECONDS):
                await connection.execute("ROLLBACK")
        except (TimeoutError, asyncpg.PostgresError, *CLOSED, asyncio.CancelledError):
            with suppress(*CLOSED):
                connection.terminate()
        finally:
            self._take_back(connection)
