"""SQL statements as files: `<package>/sql/<name>.sql`, one statement each, whose header names its parameters.

    -- claim_jobs: take the best waiting jobs of the given lanes.
    -- $1 lanes bigint[]
    -- $2 amount int

A file that is missing, empty or wrongly declared fails when its package is loaded, never on the first call.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources

from horde.telemetry.metrics import SECONDS, Histogram, Timings

_PARAMETER = re.compile(r"^-- \$(\d+)[ \t]+(\w+)[ \t]+(\S.*)$", re.MULTILINE)
_USED = re.compile(r"\$(\d+)")
_WRITES = re.compile(
    r"\b(INSERT|UPDATE|DELETE|MERGE|LOCK|CALL|TRUNCATE|NOTIFY|nextval|setval|pg_notify)\b|\bFOR\s+(NO\s+KEY\s+|KEY\s+)?(UPDATE|SHARE)\b|_v\d+\s*\(",
    re.IGNORECASE,
)
"""A statement that matches may change something. `…_v1(`, of any version, is how our SQL functions are named."""

_READS_ONLY = re.compile(r"^-- reads only$", re.MULTILINE)
"""A header line that promises it all the same: every function that the statement calls is `STABLE`."""

_QUERY_SECONDS = Histogram(
    "horde_store_query_seconds",
    "Time of one statement, waiting for a connection included.",
    ("query", "outcome"),
    buckets=SECONDS,
)


class QueryFileError(Exception):
    """A SQL file is missing, or its header does not fit its statement."""


@dataclass(frozen=True, slots=True)
class Query:
    """One statement. `name` is what metrics and traces call it: `<service>.<file>`."""

    name: str
    sql: str
    parameters: int
    reads: bool
    timings: Timings = field(repr=False, compare=False)
    told: Mapping[str, str] = field(repr=False, compare=False)
    """What a span tells of the statement: its name, never its text or its arguments."""

    @classmethod
    def load(cls, package: str, name: str) -> "Query":
        """Reads `<package>/sql/<name>.sql`. Raises QueryFileError."""
        try:
            text = (resources.files(package) / "sql" / f"{name}.sql").read_text(encoding="utf-8")
        except (FileNotFoundError, ModuleNotFoundError) as error:
            raise QueryFileError(f"{package}: there is no sql/{name}.sql") from error
        return cls.parse(f"{package.removeprefix('services.')}.{name}", text)

    @classmethod
    def parse(cls, name: str, text: str) -> "Query":
        """A statement from the text of its file. Raises QueryFileError."""
        header, body = _split(text)
        if not header:
            raise QueryFileError(f"{name}: the file must begin with a comment that says what it is for")
        if not body:
            raise QueryFileError(f"{name}: the file holds no statement")
        declared = [int(number) for number, _, _ in _PARAMETER.findall(header)]
        if declared != list(range(1, len(declared) + 1)):
            raise QueryFileError(f"{name}: the header counts its parameters as {declared}; wanted 1, 2, 3, …")
        code = _code(body)
        used = {int(number) for number in _USED.findall(code)}
        if used != set(declared):
            raise QueryFileError(f"{name}: the header declares {declared}, the statement uses {sorted(used)}")
        return cls(
            name=name,
            sql=f"-- {name}\n{body}",  # the first line shows in pg_stat_activity and in the server's log
            parameters=len(declared),
            reads=_READS_ONLY.search(header) is not None or _WRITES.search(code) is None,
            timings=Timings(_QUERY_SECONDS, name),
            told={"db.system.name": "postgresql", "db.query.summary": name},
        )


class Queries(Mapping[str, Query]):
    """Every statement of one package, by file name."""

    def __init__(self, package: str, found: Mapping[str, Query]) -> None:
        self._package = package
        self._found = dict(found)

    def __getitem__(self, name: str) -> Query:
        try:
            return self._found[name]
        except KeyError:
            raise QueryFileError(f"{self._package}: there is no sql/{name}.sql") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def queries(package: str) -> Queries:
    """Loads every file of `<package>/sql`. Raises QueryFileError for the first bad one."""
    folder = resources.files(package) / "sql"
    if not folder.is_dir():
        raise QueryFileError(f"{package}: there is no folder sql")
    names = sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return Queries(package, {name: Query.load(package, name) for name in names})


def _split(text: str) -> tuple[str, str]:
    """The comment lines at the top, and the rest without its final semicolon."""
    lines = text.strip().splitlines()
    end = next((n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("--")), len(lines))
    return "\n".join(lines[:end]).strip(), "\n".join(lines[end:]).strip().removesuffix(";").strip()


def _code(body: str) -> str:
    """The statement without comments and quoted text, so that a word in them counts for nothing."""
    without_comments = re.sub(r"--[^\n]*|/\*.*?\*/", " ", body, flags=re.DOTALL)
    return re.sub(r"'(?:[^']|'')*'", "''", without_comments)
