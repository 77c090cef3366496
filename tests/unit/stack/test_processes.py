import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from horde.cli.stack.processes import Died, Launch, Processes
from horde.cli.stack.tied import watch
from horde.failures import StartError


def python(name: str, program: str, **other: float) -> Launch:
    return Launch(name, [sys.executable, "-c", program], dict(os.environ), Path("/"), **other)  # type: ignore[arg-type]  # only numbers


async def yes() -> bool:
    return True


async def no() -> bool:
    return False


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


async def test_a_process_that_ends_before_it_is_ready_says_its_last_words(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    process = await processes.start(python("shy", "import sys; print('first'); sys.exit('no port')"))
    with pytest.raises(Died, match=r"(?s)shy exited with code 1; .*no port"):
        await process.until(no, 10)


async def test_a_process_that_is_never_ready_is_reported_with_its_log(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    process = await processes.start(python("slow", "import time; print('thinking', flush=True); time.sleep(60)"))
    with pytest.raises(StartError, match=r"(?s)slow is not ready after 1 s.*thinking"):
        await process.until(no, 1)
    await processes.stop_all()


async def test_the_first_death_is_one_that_nobody_asked_for(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    await processes.start(python("asked", "import time; time.sleep(60)"))
    victim = await processes.start(python("victim", "import time; time.sleep(60)"))
    await processes.stop("asked")
    os.kill(victim.pid, signal.SIGKILL)
    dead = await asyncio.wait_for(processes.first_death(), 5)
    assert dead.name == "victim"
    assert "was ended by SIGKILL" in dead.epitaph()
    with pytest.raises(Died):
        processes.raise_if_one_died()


async def test_who_does_not_stop_in_time_is_killed(tmp_path: Path) -> None:
    program = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    processes = Processes(tmp_path)
    process = await processes.start(python("deaf", program, grace_seconds=0.2))

    async def has_spoken() -> bool:
        return "deaf" in process.tail()

    await process.until(has_spoken, 10)
    await processes.stop("deaf")
    assert process.exit_code == -signal.SIGKILL


async def test_a_missing_program_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="ghost cannot start: /no/such/program does not exist"):
        await Processes(tmp_path).start(Launch("ghost", ["/no/such/program"], {}, Path("/")))


async def test_the_tail_is_of_this_start_only(tmp_path: Path) -> None:
    processes = Processes(tmp_path)
    await (await processes.start(python("twice", "print('old')"))).handle.wait()
    process = await processes.start(python("twice", "print('new')"))
    await process.handle.wait()
    assert process.tail() == "new"


SUPERVISOR = """
import asyncio, os, pathlib, sys
from horde.cli.stack.processes import Launch, Processes
async def main():
    processes = Processes(pathlib.Path(sys.argv[1]))
    launch = Launch("child", [sys.executable, "-c", "import time; time.sleep(60)"], dict(os.environ), pathlib.Path("/"))
    print((await processes.start(launch)).pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_children_do_not_outlive_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    supervisor = subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout is not None
    child = int(supervisor.stdout.readline())
    time.sleep(0.5)  # the child has to have tied itself by then
    assert is_alive(child)
    supervisor.kill()
    supervisor.communicate()
    deadline = time.monotonic() + 5
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(child)


def test_without_a_death_signal_a_watcher_does_the_same(tmp_path: Path) -> None:
    program = f"import sys, time; sys.path.insert(0, {str(Path(watch.__code__.co_filename).parent)!r}); import tied; "
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    target = subprocess.Popen([sys.executable, "-c", f"{program} tied.watch({parent.pid}, 15); time.sleep(60)"])
    time.sleep(0.5)
    assert target.poll() is None
    parent.kill()
    parent.wait()
    assert target.wait(10) == -signal.SIGTERM
    assert tmp_path.exists()
