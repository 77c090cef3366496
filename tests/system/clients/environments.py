"""Where clients that users have, and large tools, are installed: environments of their own, kept between runs.

They stand in the user's cache, named after their lock and interpreter: a new lock makes a new one. Needs the network
once; what cannot be installed is told with the words of the installer.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
_LOCKS = _ROOT / "requirements"
_NODE = _HERE / "node"
_INSTALL_SECONDS = 600


class NotInstalled(Exception):
    """The clients cannot be had on this machine; the message says why and what would help."""


def python_clients() -> Path:
    """The interpreter that has every Python client. Raises NotInstalled."""
    return _python("python", _LOCKS / "clients.lock")


def checkov() -> Path:
    """The checker of manifests. Raises NotInstalled."""
    return _python("checkov", _LOCKS / "checkov.lock").with_name("checkov")


def _python(kind: str, lock: Path) -> Path:
    """The interpreter of an environment that holds what `lock` says."""
    beside = _ROOT / ".uv" / "bin" / "uv"
    uv = shutil.which("uv") or (str(beside) if beside.exists() else None)

    def install(folder: Path) -> None:
        venv = folder / "venv"
        python = str(venv / "bin" / "python")
        if uv is None:  # slower, and it does as well
            _run([sys.executable, "-m", "venv", "--clear", str(venv)])
            _run([python, "-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", str(lock)])
            return
        _run([uv, "venv", "--quiet", "--clear", "--no-project", "--python", sys.executable, str(venv)])
        _run([uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", str(lock)])

    folder = _kept(kind, lock.read_bytes() + sys.version.encode(), install)
    return folder / "venv" / "bin" / "python"


def node_clients() -> Path:
    """A folder in which Node finds every JavaScript client. Raises NotInstalled."""
    _tool("node")
    npm = _tool("npm")

    def install(folder: Path) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_NODE / name, folder / name)
        _run([npm, "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], folder)

    folder = _kept("node", (_NODE / "package-lock.json").read_bytes(), install)
    # modules are looked for beside the program that wants them, so the programs stand there too
    for program in _NODE.glob("*.mjs"):
        shutil.copy(program, folder / program.name)
    return folder


def _kept(kind: str, made_of: bytes, install: Callable[[Path], None]) -> Path:
    """The folder of an environment, made by `install` unless it is there and whole."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chat-horde"
    folder = cache / f"{kind}-clients-{hashlib.sha256(made_of).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            install(folder)
            whole.touch()
    return folder


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise NotInstalled(f"{name} is not installed, and the clients of the tests are installed with it")
    return found


_SYSTEMS_ROOTS = {"UV_SYSTEM_CERTS": "true", "UV_NATIVE_TLS": "true"}
"""For a proxy with a root of its own: uv then trusts what the system trusts. `./run` does the same."""


def _run(command: Sequence[str], folder: Path | None = None) -> None:
    said = _tried(command, folder, {})
    if said is not None and "ertificate" in said:
        said = _tried(command, folder, _SYSTEMS_ROOTS)
    if said is not None:
        raise NotInstalled(f"`{' '.join(command)}` failed; the network is needed once:\n{said[-2000:]}")


def _tried(command: Sequence[str], folder: Path | None, more: dict[str, str]) -> str | None:
    """What a command said when it failed; None: it did not."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
        check=False,
    )
    return (done.stderr or done.stdout).strip() if done.returncode else None
