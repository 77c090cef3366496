"""Things that may happen in one place only: reading the environment, reading the clock, writing SQL, committing."""

import ast
import re
from collections.abc import Iterator

from tools.lint.source import Finding, Source, dotted

_SQL = re.compile(
    r"\s*(SELECT\s.+|INSERT\s+INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s*\(|(CREATE|ALTER|DROP)\s+"
    r"(TABLE|SCHEMA|FUNCTION|INDEX|ROLE|VIEW|TYPE|TRIGGER)\s|TRUNCATE\s)",
    re.DOTALL,
)
_MAY_HOLD_SQL = ("horde/store/migrations/", "horde/cli/stack/postgres.py")
_MAY_READ_ENVIRONMENT = ("horde/settings/", "horde/cli/", "horde/__init__.py")
_MAY_READ_CLOCK = ("horde/clock.py", "horde/cli/")
_CLOCKS = frozenset({"datetime.now", "datetime.datetime.now", "datetime.utcnow", "datetime.today", "date.today"})
_REMOTE = frozenset({"neighbours", "live", "redis", "blobs", "s3", "httpx"})


def sql_in_its_files(source: Source) -> Iterator[Finding]:
    """SQL stands in .sql files, where it is read, explained and tested as SQL."""
    if not (source.is_python and source.is_shipped) or source.name.startswith(_MAY_HOLD_SQL):
        return
    documentation = _docstrings(source.tree)
    for node in ast.walk(source.tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)) or id(node) in documentation:
            continue
        if _SQL.match(node.value):
            yield source.finding(node, "SQL in a string: put it into a file under sql/")


def environment_in_settings(source: Source) -> Iterator[Finding]:
    """The environment is read in settings and composition roots, so that there is one list of what can be set."""
    if not (source.is_python and source.is_shipped) or source.name.startswith(_MAY_READ_ENVIRONMENT):
        return
    if source.path.name in {"settings.py", "__main__.py"}:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and dotted(node) in {"os.environ", "os.getenv"}:
            yield source.finding(node, "the environment is read here: make it a setting")


def time_through_the_clock(source: Source) -> Iterator[Finding]:
    """Time comes from `Clock`, or a test cannot move it and a zone can be forgotten."""
    if not (source.is_python and source.is_shipped) or source.name.startswith(_MAY_READ_CLOCK):
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and dotted(node.func) in _CLOCKS:
            yield source.finding(node, "the time is read here: take it from Clock")


def nothing_remote_in_a_transaction(source: Source) -> Iterator[Finding]:
    """A slow neighbour inside a transaction holds a connection and its locks: the pool runs dry under load."""
    if not (source.is_python and source.is_shipped):
        return
    for block in ast.walk(source.tree):
        if not isinstance(block, ast.AsyncWith) or not any(_is_transaction(item) for item in block.items):
            continue
        for node in (inner for statement in block.body for inner in ast.walk(statement)):
            if isinstance(node, ast.Await) and set(dotted(node.value).split(".")) & _REMOTE:
                yield source.finding(node, "something remote is awaited inside a transaction: do it before or after")


def small_labels(source: Source) -> Iterator[Finding]:
    """An id as a metric label makes a time series per id, and Prometheus runs out of memory."""
    if not (source.is_python and source.is_shipped):
        return
    for node in ast.walk(source.tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "labels"):
            continue
        for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
            word = dotted(value).rpartition(".")[2]
            if word == "id" or word.endswith(("_id", "_address", "_name_of_user")):
                yield source.finding(node, f"{dotted(value)} as a metric label: ids go to the log")


def nothing_patched_by_name(source: Source) -> Iterator[Finding]:
    """A patch by name breaks when code moves and tests a program that nobody runs: pass a dependency instead."""
    if not source.is_python:
        return
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        called = dotted(node.func)
        first = node.args[0] if node.args else None
        by_name = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if (called == "patch" or called.endswith((".patch", "monkeypatch.setattr"))) and by_name:
            yield source.finding(node, "patched by name: pass what the test must change as a dependency")


def _is_transaction(item: ast.withitem) -> bool:
    return dotted(item.context_expr).endswith(".transaction()")


def _docstrings(tree: ast.Module) -> set[int]:
    """Identities of the string nodes that are documentation, attribute docstrings included."""
    return {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
