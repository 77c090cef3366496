"""The processes of one stack: started with a log each, tied to our life, watched, stopped in order.

Everything runs on one event loop in one thread, because the kernel's death signal follows the thread that
started a process, not only the program.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from horde.failures import StartError

TIED = Path(__file__).with_name("tied.py")
POLL_SECONDS = 0.02  # the fastest server is ready after 50 ms
TAIL_LINES = 8
TAIL_BYTES = 16_384


@dataclass(frozen=True)
class Launch:
    """How one process is started and stopped."""

    name: str
    command: Sequence[str | Path]
    env: Mapping[str, str]
    cwd: Path
    identity: str = "keep"  # see tied.py
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGTERM  # what it gets when we are killed
    grace_seconds: float = 10.0  # from the stop signal to SIGKILL


@dataclass
class Process:
    """One running process."""

    launch: Launch
    handle: asyncio.subprocess.Process
    log: Path
    log_start: int  # bytes of the log that earlier starts wrote
    is_stopping: bool = False

    @property
    def name(self) -> str:
        """The word people know it by."""
        return self.launch.name

    @property
    def pid(self) -> int:
        """Its process id; also its process group."""
        return self.handle.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self.handle.returncode

    def tail(self) -> str:
        """The last lines of its log since this start."""
        with self.log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self.log_start, end - TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
        return "\n".join(line for line in lines if line.strip()) or "(no output)"

    def epitaph(self) -> str:
        """What to tell the user when it ended on its own: name, exit code, last log lines."""
        code = self.exit_code
        ending = (
            f"was ended by {signal.Signals(-code).name}"
            if code is not None and code < 0
            else f"exited with code {code}"
        )
        last = "\n".join(f"    {line}" for line in self.tail().splitlines()[-TAIL_LINES:])
        return f"{self.name} {ending}; its last lines ({self.log}):\n{last}"

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process, if it is still there."""
        if self.exit_code is None:
            self.handle.send_signal(number)

    async def stop(self) -> None:
        """Ask it to end, wait its grace, then kill it and whatever it left in its group."""
        self.is_stopping = True
        self.signal(self.launch.stop_signal)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.launch.grace_seconds):
                await self.handle.wait()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        await self.handle.wait()

    async def until(self, ready: Callable[[], Awaitable[bool]], seconds: float) -> None:
        """Wait until `ready` says yes. Raises StartError when the process ends first or `seconds` pass.

        An OSError of `ready` counts as "not yet".
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.exit_code is not None:
                raise Died(self)
            with contextlib.suppress(OSError):
                if await ready():
                    return
            await asyncio.sleep(POLL_SECONDS)
        raise StartError(f"{self.name} is not ready after {seconds:.0f} s; its log: {self.log}\n{self.tail()}")


def tied_to_us(identity: str, death_signal: signal.Signals) -> list[str]:
    """The first words of a command that must not outlive this process; see tied.py."""
    return [sys.executable, "-I", "-S", str(TIED), str(os.getpid()), str(int(death_signal)), identity]


class Died(StartError):
    """A process ended before it was ready."""

    def __init__(self, process: Process) -> None:
        super().__init__(process.epitaph())
        self.process = process


class Processes:
    """All processes of a stack."""

    def __init__(self, logs: Path, *, inherited: Sequence[int] = ()) -> None:
        self._logs = logs
        self._inherited = inherited  # open files every child keeps, so that the living can be told from the dead
        self._running: dict[str, Process] = {}
        self._deaths: asyncio.Queue[Process] = asyncio.Queue()
        self._watchers: set[asyncio.Task[None]] = set()
        self.on_change: Callable[[], None] = lambda: None

    @property
    def pids(self) -> dict[str, int]:
        """The process id of everything that runs now, by name."""
        return {name: process.pid for name, process in self._running.items() if process.exit_code is None}

    def running(self, name: str) -> Process:
        """The process of that name. Raises KeyError when it was never started, or was stopped."""
        return self._running[name]

    async def start(self, launch: Launch) -> Process:
        """Start one process and watch it. Raises StartError when the program is not there."""
        log = self._logs / f"{launch.name}.log"
        arguments = [str(part) for part in launch.command]
        if not Path(arguments[0]).exists():
            raise StartError(f"{launch.name} cannot start: {arguments[0]} does not exist; build the environment again")
        with log.open("ab") as output:
            start = output.tell()
            handle = await asyncio.create_subprocess_exec(
                *tied_to_us(launch.identity, launch.death_signal),
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                env=dict(launch.env),
                cwd=launch.cwd,
                start_new_session=True,  # Ctrl-C is for the supervisor, which stops the others in order
                pass_fds=tuple(self._inherited),
            )
        process = Process(launch, handle, log, start)
        self._running[launch.name] = process
        watcher = asyncio.create_task(self._watch(process))
        self._watchers.add(watcher)
        watcher.add_done_callback(self._watchers.discard)
        self.on_change()
        return process

    def raise_if_one_died(self) -> None:
        """Raises Died for a process that ended though nobody asked it to."""
        for process in self._running.values():
            if process.exit_code is not None and not process.is_stopping:
                raise Died(process)

    async def first_death(self) -> Process:
        """Wait for a process to end that nobody asked to."""
        while True:
            process = await self._deaths.get()
            if self._running.get(process.name) is process:
                return process

    async def stop(self, *names: str) -> None:
        """Stop these processes side by side; unknown and ended ones are skipped."""
        chosen = [process for name in names if (process := self._running.pop(name, None))]
        await asyncio.gather(*(process.stop() for process in chosen))
        self.on_change()

    async def stop_all(self) -> None:
        """Stop whatever still runs, side by side."""
        await self.stop(*self._running)

    def kill_all(self) -> None:
        """No grace: for the second Ctrl-C."""
        for process in self._running.values():
            process.is_stopping = True
            process.signal(signal.SIGKILL)

    async def _watch(self, process: Process) -> None:
        await process.handle.wait()
        if not process.is_stopping:
            self._deaths.put_nowait(process)
