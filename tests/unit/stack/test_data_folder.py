import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from horde.cli.stack.data_folder import leftovers, opened
from horde.failures import StartError

SILENT: list[str] = []
HOLDER = """
import sys, time, pathlib
from horde.cli.stack.data_folder import opened
with opened(pathlib.Path(sys.argv[1]), print) as folder:
    import subprocess
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], pass_fds=[folder.children.fileno()])
    print(child.pid, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that has the folder open and one child that inherits from it. It prints the child's id."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as program:
        yield program
        program.kill()
        for pid in leftovers(tmp_path):
            os.kill(pid, signal.SIGKILL)


def child_of(holder: subprocess.Popen[str]) -> int:
    assert holder.stdout is not None
    return int(holder.stdout.readline())


def test_secrets_stay_the_same_and_are_private(tmp_path: Path) -> None:
    with opened(tmp_path, SILENT.append) as first:
        before = first.secrets
    with opened(tmp_path, SILENT.append) as second:
        assert second.secrets == before
    assert stat.S_IMODE((tmp_path / "secrets.json").stat().st_mode) == 0o600


def test_a_secret_that_an_older_version_did_not_have_is_added(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text(json.dumps({"secret_key": "kept", "unknown": "x"}))
    with opened(tmp_path, SILENT.append) as folder:
        assert folder.secrets.secret_key == "kept"
        assert folder.secrets.owner_password


def test_damaged_secrets_are_an_error_and_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "secrets.json").write_text("{")
    with pytest.raises(StartError, match="is damaged"), opened(tmp_path, SILENT.append):
        pass
    assert (tmp_path / "secrets.json").read_text() == "{"


def test_a_second_stack_on_the_same_folder_is_told_who_has_it(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    child_of(holder)
    with (
        pytest.raises(StartError, match=rf"already running on .* \(process {holder.pid}\)"),
        opened(tmp_path, SILENT.append),
    ):
        pass


def test_a_child_that_outlived_its_supervisor_is_waited_for_and_then_killed(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    child = child_of(holder)
    holder.kill()
    holder.wait()
    assert leftovers(tmp_path) == [child]
    notices: list[str] = []
    with opened(tmp_path, notices.append, patience=0.3):
        assert leftovers(tmp_path) == []
    assert notices == ["the last run did not end cleanly: waiting for its processes to end"]


def test_a_temporary_folder_is_removed(tmp_path: Path) -> None:
    with opened(None, SILENT.append) as folder:
        place = folder.path
        assert place.exists()
    assert not place.exists()
    assert tmp_path.exists()


def test_a_folder_that_cannot_be_made_is_one_clear_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StartError, match=r"cannot be used .* choose another --data-dir"),
        opened(tmp_path / "file" / "data", SILENT.append),
    ):
        pass
