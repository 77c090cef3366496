import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS_OF_THE_SHELL = ("dirname", "cat", "cksum", "rm", "mkdir", "flock", "sh")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what ./run needs, with no environment."""
    shutil.copy(ROOT / "run", tmp_path / "run")
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH with a shell's tools and neither Python nor uv."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS_OF_THE_SHELL:
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    return str(folder)


def run(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(checkout / "run"), *arguments],
        env={"HOME": str(checkout), **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_without_python_and_uv_one_message_says_what_to_do(checkout: Path, bare_path: str) -> None:
    done = run(checkout, "up", PATH=bare_path)
    assert done.returncode == 2
    assert "needs Python 3.12 or newer, or uv" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_python_that_is_too_old_or_broken_is_not_taken(checkout: Path, bare_path: str) -> None:
    shim = Path(bare_path) / "python3.13"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    done = run(checkout, "test", PATH=bare_path)
    assert done.returncode == 2
    assert "needs Python 3.12 or newer" in done.stderr


def test_help_needs_no_environment(checkout: Path, bare_path: str) -> None:
    done = run(checkout, "help", PATH=bare_path)
    assert done.returncode == 0
    assert "./run up" in done.stdout
    assert not (checkout / ".venv").exists()


def test_it_runs_from_any_folder(checkout: Path) -> None:
    done = subprocess.run(
        [str(ROOT / "run"), "help"], cwd=checkout, env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
