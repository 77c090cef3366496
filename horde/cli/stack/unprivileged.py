"""Who runs Postgres when we may not: it refuses root, rightly.

Three ways, the first that works is taken: become the user nobody (its folder and programs must be reachable for
nobody); a user namespace, in which root's own files look like nobody's; become nobody with a copy of the programs
inside the data folder. A plain user needs none of this, unless the system has no name for its number, as in some
containers: Postgres refuses that too, and the namespace helps again.
"""

import os
import pwd
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from horde.cli.stack.processes import tied_to_us
from horde.failures import StartError

EXECUTABLE_BY_ALL = 0o001
PROBE_SECONDS = 10


@dataclass(frozen=True)
class Runner:
    """How to start programs that refuse root."""

    identity: str  # see tied.py
    owner: tuple[int, int] | None  # who must own their files; None: whoever we are

    def give(self, folder: Path) -> None:
        """Make `folder` and all below belong to the runner, if they do not yet."""
        uid, gid = self.owner or (os.geteuid(), os.getegid())
        if folder.stat().st_uid == uid:
            return
        for path in (folder, *folder.rglob("*")):
            os.chown(path, uid, gid, follow_symlinks=False)


def runner_for(folder: Path, programs: Path) -> tuple[Runner, Path]:
    """Who runs `programs` (an installation's root) on data below `folder`, and the programs' place to use.

    Raises StartError when root's Postgres can reach neither.
    """
    if os.geteuid() != 0:
        return _as_ourselves(), programs
    nobody = pwd.getpwnam("nobody")
    as_nobody = Runner(f"{nobody.pw_uid}:{nobody.pw_gid}", (nobody.pw_uid, nobody.pw_gid))
    if is_reachable(folder) and is_reachable(programs):
        return as_nobody, programs
    if _has_namespaces():
        return Runner("namespace", None), programs
    if is_reachable(folder):
        return as_nobody, _copied(programs, folder.parent / "postgres-programs")
    raise StartError(
        f"Postgres does not run as root, and no other user can reach {folder}: "
        "choose a --data-dir outside root's home, or run as a plain user"
    )


def _as_ourselves() -> Runner:
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        if not _has_namespaces():
            raise StartError(
                f"Postgres does not run as user {os.geteuid()}, which has no name on this system: "
                "run as a user that has one, or set HORDE_DATABASE_URL to a server of your own"
            ) from None
        return Runner("namespace", None)
    return Runner("keep", None)


def is_reachable(path: Path) -> bool:
    """Whether every user may walk down to `path`."""
    return all(part.stat().st_mode & EXECUTABLE_BY_ALL for part in (path, *path.parents) if part.exists())


def _has_namespaces() -> bool:
    if sys.platform != "linux":
        return False
    probe = [*tied_to_us("namespace", signal.SIGKILL), "/bin/true"]
    done = subprocess.run(probe, capture_output=True, timeout=PROBE_SECONDS, check=False)
    return done.returncode == 0


def _copied(programs: Path, target: Path) -> Path:
    """A copy that everybody may run, with the libraries that the programs find relative to themselves."""
    package, libraries = programs.parent, programs.parent.with_name(f"{programs.parent.name}.libs")
    place = target / package.name / programs.name
    if not place.exists():
        partial = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.copytree(programs, partial / package.name / programs.name, symlinks=True)
        shutil.copytree(libraries, partial / libraries.name, symlinks=True)
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)
    return place
