"""`horde worker run` says in one line what is wrong with its flags."""

import pytest

from horde.cli import main

FLAGS = {"--url": "http://127.0.0.1:1", "--api-key": "k", "--backend": "http://127.0.0.1:2", "--model": "m"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"--feature": "sed"}, "--feature sed: unknown"),
        ({"--url": "127.0.0.1:7001"}, "write it as http://host:port"),
        ({"--backend": "localhost"}, "--backend localhost"),
    ],
)
def test_a_bad_flag_is_one_line_and_exit_code_two(
    changed: dict[str, str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [part for pair in {**FLAGS, **changed}.items() for part in pair]
    assert main(["worker", "run", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_missing_flag_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["worker", "run", "--url", "http://h"])
    assert ended.value.code == 2
    assert "--api-key" in capsys.readouterr().err
