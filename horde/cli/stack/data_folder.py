"""The folder a stack keeps: who uses it, its passwords, its logs.

Two locks tell the living from the dead without guessing from process ids. `lock` is held by the supervisor alone.
`children.lock` is held by an open file that every child inherits, so it is free exactly when the last child of the
last run is gone, however that run ended.
"""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO

from horde.failures import StartError

EPHEMERAL_PREFIX = "horde-ephemeral-"
ABANDONED_SECONDS = 60.0  # a younger temporary folder may belong to a stack that has not locked it yet
LEFTOVER_SECONDS = 10.0  # what the children of a killed supervisor get to end by themselves
POLL_SECONDS = 0.1
PRIVATE = 0o600
TRAVERSABLE = 0o711  # Postgres runs as another user when we are root, and must reach its own folder below


def _word() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Secrets:
    """Everything only this stack knows. Kept with the data they open."""

    owner_password: str = field(default_factory=_word)
    admission_password: str = field(default_factory=_word)
    dispatch_password: str = field(default_factory=_word)
    moderation_password: str = field(default_factory=_word)
    redis_password: str = field(default_factory=_word)
    s3_access_key: str = field(default_factory=_word)
    s3_secret_key: str = field(default_factory=_word)
    evidence_access_key: str = field(default_factory=_word)
    evidence_secret_key: str = field(default_factory=_word)
    secret_key: str = field(default_factory=_word)


class DataFolder:
    """One locked data folder. Open it with `opened`."""

    def __init__(self, path: Path, children: IO[str]) -> None:
        self.path = path
        self.logs = path / "logs"
        self.run = path / "run"  # addresses of this run's processes; emptied at each start
        self.stack_file = path / "stack.json"
        self.children = children
        self.secrets = _kept_secrets(path / "secrets.json")
        shutil.rmtree(self.run, ignore_errors=True)
        self.stack_file.unlink(missing_ok=True)
        for folder in (self.logs, self.run):
            folder.mkdir(exist_ok=True)
        for log in self.logs.glob("*.log"):
            log.replace(log.with_suffix(".log.previous"))

    def write_private(self, name: str, text: str) -> Path:
        """Replace a file of the folder in one step, readable by its owner only."""
        return write_private(self.path / name, text)


@contextlib.contextmanager
def opened(
    path: Path | None, notice: Callable[[str], None], patience: float = LEFTOVER_SECONDS
) -> Iterator[DataFolder]:
    """Lock the folder, made when it is not there; None: a temporary one that is removed afterwards.

    `patience` is how many seconds what a killed supervisor has left behind gets to end by itself.

    Raises StartError when another stack uses it, or when processes of the last run will not end.
    """
    folder = _temporary() if path is None else path.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(TRAVERSABLE)
        lock = (folder / "lock").open("a+")
    except OSError as problem:
        raise StartError(
            f"the data folder {folder} cannot be used ({problem.strerror}): choose another --data-dir"
        ) from None
    with lock:
        _take(lock, folder)
        children = _adopt(folder, notice, patience)
        try:
            with children:
                yield DataFolder(folder, children)
        finally:
            if path is None:
                shutil.rmtree(folder, ignore_errors=True)


def write_private(path: Path, text: str) -> Path:
    """Replace `path` in one step by a file that only its owner may read."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE), "w") as file:
        file.write(text)
    partial.replace(path)
    return path


def _kept_secrets(path: Path) -> Secrets:
    known = {each.name for each in fields(Secrets)}
    kept: dict[str, str] = {}
    if path.exists():
        try:
            kept = {name: value for name, value in json.loads(path.read_text()).items() if name in known}
        except (ValueError, AttributeError):
            raise StartError(
                f"{path} is damaged: without its passwords the data cannot be opened; restore it, or remove the folder"
            ) from None
    made = Secrets(**kept)
    if asdict(made) != kept:
        write_private(path, json.dumps(asdict(made), indent=2))
    return made


def _take(lock: IO[str], folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        raise StartError(
            f"a stack is already running on {folder} (process {lock.read().strip() or 'unknown'}): "
            "stop it first, or choose another --data-dir"
        ) from None
    lock.seek(0)
    lock.truncate()
    lock.write(str(os.getpid()))
    lock.flush()


def _adopt(folder: Path, notice: Callable[[str], None], patience: float) -> IO[str]:
    """The open children's lock. Waits for, then kills, what a supervisor that was killed has left behind."""
    children = (folder / "children.lock").open("a+")
    deadline = time.monotonic() + patience
    if not _locked(children):
        notice("the last run did not end cleanly: waiting for its processes to end")
    while not _locked(children):
        if time.monotonic() > deadline:
            if not (left := leftovers(folder)):
                children.close()
                raise StartError(f"processes of the last run on {folder} are still there: end them, then start again")
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + LEFTOVER_SECONDS
        time.sleep(POLL_SECONDS)
    return children


def leftovers(folder: Path) -> list[int]:
    """Process ids that still hold the children's lock of `folder`; empty where /proc does not tell."""
    lock = folder / "children.lock"
    return [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if int(process.name) != os.getpid() and lock in _open_files(process)
    ]


def _open_files(process: Path) -> set[Path]:
    found: set[Path] = set()
    with contextlib.suppress(OSError):
        for link in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                found.add(link.readlink())
    return found


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _temporary() -> Path:
    """A new temporary folder; those of stacks that were killed are removed on the way."""
    for old in Path(tempfile.gettempdir()).glob(f"{EPHEMERAL_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > ABANDONED_SECONDS and _is_abandoned(old):
                shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=EPHEMERAL_PREFIX))


def _is_abandoned(folder: Path) -> bool:
    with (folder / "lock").open("r+") as lock, (folder / "children.lock").open("r+") as children:
        return _locked(lock) and _locked(children)
