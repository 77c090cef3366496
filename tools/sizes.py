"""The size budget: what fits on a screen is read, what does not is skimmed. `python -m tools.sizes`.

The caps are those of CONTRIBUTING.md. Generated code is not counted.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ("horde_pb/",)


@dataclass(frozen=True)
class Cap:
    """The most lines a file that matches may have. The first match counts."""

    pattern: re.Pattern[str]
    lines: int
    what: str


CAPS = (
    Cap(re.compile(r"^services/\w+/handlers/(?!__init__)\w+\.py$"), 120, "a handler file"),
    Cap(re.compile(r"^services/\w+/__main__\.py$"), 120, "a composition root"),
    Cap(re.compile(r"^horde/store/migrations/sql/"), 300, "a migration, which is read once and from the top,"),
    Cap(re.compile(r"\.(lua|sql)$"), 80, "a Lua or SQL file"),
    Cap(re.compile(r"\.proto$"), 200, "a proto file"),
    Cap(re.compile(r"^services/.*README\.md$"), 40, "a charter"),
    Cap(re.compile(r"\.py$"), 400, "a Python file"),
)
FUNCTION_LINES = 60
TEST_FUNCTION_LINES = 40
SERVICER_METHOD_LINES = 5


def too_long(name: str, text: str) -> Iterator[str]:
    """One sentence for everything in the file `name` (relative to the root) that is over its cap."""
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    cap = next((cap for cap in CAPS if cap.pattern.search(name)), None)
    if cap is not None and lines > cap.lines:
        yield f"{name}: {lines} lines; {cap.what} has at most {cap.lines}"
    if name.endswith(".py"):
        yield from _long_functions(name, text)


def _long_functions(name: str, text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        cap = _function_cap(name, node)
        if lines > cap:
            yield f"{name}:{node.lineno}: {node.name} has {lines} lines, at most {cap} are allowed"


def _function_cap(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if name.endswith("/servicer.py") and node.name[:1].isupper():
        signature = node.body[0].lineno - node.lineno - 1  # a signature over several lines is not the method's fault
        return SERVICER_METHOD_LINES + max(signature, 0)
    if name.startswith("tests/") and node.name.startswith("test_"):
        return TEST_FUNCTION_LINES
    return FUNCTION_LINES


def tracked_files() -> list[str]:
    """Names of every file that is or would be committed, generated ones left out."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - the checkout's own git
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names: Sequence[str] = listed.stdout.splitlines() if listed.returncode == 0 else list(_walk())
    return sorted(name for name in set(names) if not name.startswith(GENERATED) and (ROOT / name).is_file())


def _walk() -> Iterator[str]:
    """The same without git, as in an unpacked archive."""
    for path in ROOT.rglob("*"):
        name = path.relative_to(ROOT).as_posix()
        if path.is_file() and not any(part.startswith(".") for part in Path(name).parts[:-1]):
            yield name


def main() -> int:
    """Print everything over its cap; the exit code is 1 when there is any."""
    problems = [
        problem
        for name in tracked_files()
        if any(cap.pattern.search(name) for cap in CAPS)
        for problem in too_long(name, (ROOT / name).read_text())
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
