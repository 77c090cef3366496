import pytest

from tools.sizes import too_long


@pytest.mark.parametrize(
    ("name", "cap"),
    [
        ("services/dispatch/handlers/claim_jobs.py", 120),
        ("services/dispatch/__main__.py", 120),
        ("services/dispatch/rules/matching.py", 400),
        ("services/dispatch/sql/lock.sql", 80),
        ("services/progress/scripts/append.lua", 80),
        ("proto/horde_pb/media/v1/media_service.proto", 200),
        ("services/media/README.md", 40),
        ("tests/unit/test_a.py", 400),
    ],
)
def test_a_file_at_its_cap_is_fine_and_one_line_more_is_not(name: str, cap: int) -> None:
    line = "# x\n"
    assert list(too_long(name, line * cap)) == []
    assert len(list(too_long(name, line * (cap + 1)))) == 1


def function(name: str, lines: int) -> str:
    return f"def {name}() -> None:\n" + "    pass\n" * (lines - 1)


@pytest.mark.parametrize(
    ("file", "name", "cap"),
    [("horde/a.py", "act", 60), ("tests/unit/test_a.py", "test_it", 40), ("services/x/servicer.py", "ClaimJobs", 5)],
)
def test_a_function_at_its_cap_is_fine_and_one_line_more_is_not(file: str, name: str, cap: int) -> None:
    assert list(too_long(file, function(name, cap))) == []
    assert len(list(too_long(file, function(name, cap + 1)))) == 1


def test_a_file_without_a_cap_may_be_long() -> None:
    assert list(too_long("docs/architecture.md", "x\n" * 1000)) == []
