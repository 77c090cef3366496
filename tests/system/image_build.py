"""Builds the image of deploy/Dockerfile with buildah, on a base made here: no container registry is asked for anything.

The base stands in for the official Python image, which is Debian with Python below /usr/local: Debian by debootstrap,
Python as it runs here. It also trusts what this machine trusts, so that packages can be had behind its proxies.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.manifests import DOCKERFILE, ROOT
from tests.servers import SYSTEM_FOLDERS

BASE = "localhost/python-stand-in"
IMAGE = "localhost/chat-horde"
_DEBIAN = "bookworm"
_LIBRARIES = (
    "ca-certificates",
    "libbz2-1.0",
    "libffi8",
    "liblzma5",
    "libncursesw6",
    "libreadline8",
    "libsqlite3-0",
    "libssl3",
    "libuuid1",
)
_MOUNTS = Path("/proc/self/mountinfo")
_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
_PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"


class Builder:
    """One store of images in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # buildah's own way to run without a container engine
        path = f"{os.environ.get('PATH', os.defpath)}:{SYSTEM_FOLDERS}"
        self._environment = {**os.environ, "PATH": path, "BUILDAH_ISOLATION": "chroot"}

    def make_base(self) -> None:
        """The image that stands in for the official Python one."""
        system = self._folder / "system"
        packages = ",".join(_LIBRARIES)
        _run(["debootstrap", "--variant=minbase", f"--include={packages}", _DEBIAN, str(system)], self._environment)
        shutil.rmtree(system / "var/cache/apt/archives")
        for part in ("bin", "lib", "include"):
            shutil.copytree(
                Path(sys.base_prefix) / part,
                system / "usr/local" / part,
                symlinks=True,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("site-packages", "test", "__pycache__"),
            )
        site = system / "usr/local/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        site.mkdir()
        if Path(_AUTHORITIES).exists():
            shutil.copy(_AUTHORITIES, system / _AUTHORITIES.removeprefix("/"))
        _run(["chroot", str(system), "ldconfig"], self._environment)
        container = self.buildah("from", "scratch")
        self.buildah("add", "--quiet", container, str(system), "/")
        for variable in (f"PATH={_PATH}", f"SSL_CERT_FILE={_AUTHORITIES}", f"PIP_CERT={_AUTHORITIES}"):
            self.buildah("config", "--env", variable, container)
        self.buildah("commit", "--quiet", "--rm", container, BASE)
        delete(system)

    def build(self) -> None:
        """The image of the Dockerfile on that base."""
        options = ["--pull-never", "--quiet", "--build-arg", f"PYTHON={BASE}", "--tag", IMAGE]
        self.buildah("bud", *options, "--file", str(DOCKERFILE), str(ROOT))

    def configuration(self) -> dict[str, Any]:
        """What the image says of itself, as OCI writes it."""
        told: dict[str, Any] = json.loads(self.buildah("inspect", "--type", "image", IMAGE))["OCIv1"]["config"]
        return told

    def bytes_over_base(self) -> int:
        """What the image adds to its base, uncompressed."""
        sizes = {}
        for name in (BASE, IMAGE):
            with self.container(name) as (_, files):
                sizes[name] = int(_run(["du", "--summarize", "--one-file-system", "--bytes", str(files)]).split()[0])
        return sizes[IMAGE] - sizes[BASE]

    @contextmanager
    def container(self, image: str = IMAGE) -> Iterator[tuple[str, Path]]:
        """A container of an image: its name, and where its file system lies."""
        name = self.buildah("from", "--pull-never", image)
        try:
            yield name, Path(self.buildah("mount", name))
        finally:
            self.buildah("rm", name)

    def command(self, container: str, *words: str, environment: dict[str, str]) -> list[str]:
        """The command that runs `words` in a container, on the host's network."""
        variables = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
        return [*self._buildah(), "run", *variables, container, "--", *words]

    def remove(self) -> None:
        """Unmounts and deletes everything that was made."""
        self.buildah("rm", "--all")
        self.buildah("rmi", "--all", "--force")
        delete(self._folder)

    @property
    def environment(self) -> dict[str, str]:
        """With what `command` has to be run."""
        return self._environment

    def buildah(self, *words: str) -> str:
        """One call; gives what it said."""
        return _run([*self._buildah(), *words], self._environment)

    def _buildah(self) -> list[str]:
        return ["buildah", "--root", str(self._folder / "store"), "--runroot", str(self._folder / "run")]


def delete(folder: Path) -> None:
    """Deletes a folder in which nothing is mounted. Raises AssertionError otherwise, and deletes nothing.

    What builds a system may have left the machine's own /dev or /proc mounted in it: deleting the folder would then
    delete the machine's devices.
    """
    mounted = mounts_below(folder)
    if mounted:
        raise AssertionError(f"{folder} is kept: still mounted in it: {', '.join(map(str, mounted))}")
    shutil.rmtree(folder)


def mounts_below(folder: Path) -> list[Path]:
    """Where something is mounted in a folder, or on it."""
    points = [Path(line.split()[4].replace("\\040", " ")) for line in _MOUNTS.read_text().splitlines()]
    return [point for point in points if point.is_relative_to(folder.resolve())]


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout.strip()
