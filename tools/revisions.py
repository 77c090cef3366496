"""What a revision of the schema may do to a database in use, judged by squawk, the linter of Postgres migrations.

A revision says when it runs. `Runs: before the code.`: it only expands, so the previous release works on after it.
`Runs: after the code.`: it contracts, and names the oldest code that still works as `oldest_code`. Revisions that come
after the last release (docs/releases.toml) meet filled tables, so they may also not hold a lock for as long as a table
takes to read. Lock time-outs are the migrator's (horde/store/migrate.py), for every revision.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from tools.sizes import ROOT

BREAKING = frozenset(
    {
        "adding-not-nullable-field",
        "adding-required-field",
        "ban-drop-column",
        "ban-drop-database",
        "ban-drop-function",
        "ban-drop-not-null",
        "ban-drop-schema",
        "ban-drop-sequence",
        "ban-drop-table",
        "ban-drop-type",
        "ban-drop-view",
        "ban-truncate-cascade",
        "changing-column-type",
        "renaming-column",
        "renaming-object",
        "renaming-table",
    }
)
"""Rules against what the code before the revision could stumble over."""

STYLE = (
    "ban-char-field",
    "prefer-bigint-over-int",
    "prefer-bigint-over-smallint",
    "prefer-robust-stmts",  # a revision is one transaction, so nothing is there half
    "prefer-text-field",
    "require-lock-timeout",  # the migrator's connection has one
    "require-statement-timeout",
)
"""Rules that say nothing about a database in use."""

BEFORE, AFTER = "Runs: before the code.", "Runs: after the code."


@dataclass(frozen=True)
class Revision:
    """One revision, as far as it is judged. `sql` runs in one transaction, `indexes` beside it."""

    name: str
    doc: str
    oldest_code: str | None
    sql: str
    indexes: str = ""


def last_schema() -> str:
    """The newest revision of the last release."""
    releases = tomllib.loads((ROOT / "docs" / "releases.toml").read_text())["release"]
    newest: str = releases[-1]["schema"]
    return newest


def revisions() -> Iterator[Revision]:
    """Every revision of this tree, the oldest first."""
    config = Config()
    config.set_main_option("script_location", str(ROOT / "horde" / "store" / "migrations"))
    config.set_main_option("path_separator", "os")
    for script in reversed(list(ScriptDirectory.from_config(config).walk_revisions())):
        yield Revision(
            name=script.revision,
            doc=(script.module.__doc__ or "").strip(),
            oldest_code=getattr(script.module, "oldest_code", None),
            sql=_read(script.module.STEPS),
            indexes=_read(getattr(script.module, "INDEXES", ())),
        )


def problems(revision: Revision, *, last: str) -> list[str]:
    """What is wrong with a revision, one sentence each. `last`: the newest revision of the last release."""
    expands, contracts = revision.doc.endswith(BEFORE), revision.doc.endswith(AFTER)
    if not expands and not contracts:
        return [f"{revision.name}: its docstring must end with `{BEFORE}` or `{AFTER}`"]
    if contracts != (revision.oldest_code is not None):
        return [f"{revision.name}: `oldest_code` is what a revision has that runs after the code, and no other"]
    found = [*_squawk(revision.sql, in_transaction=True), *_squawk(revision.indexes, in_transaction=False)]
    if contracts:
        found = [one for one in found if one[0] not in BREAKING]
    elif revision.name <= last:
        found = [one for one in found if one[0] in BREAKING]
    return [f"{revision.name}: {rule}: {line}" for rule, line in found]


def _squawk(sql: str, *, in_transaction: bool) -> list[tuple[str, str]]:
    """The rules that are broken, and where."""
    if not sql.strip():
        return []
    mode = "--assume-in-transaction" if in_transaction else "--no-assume-in-transaction"
    command = [str(Path(sys.executable).parent / "squawk"), mode, "--pg-version", "17.0", "--reporter", "json"]
    done = subprocess.run(
        [*command, "--exclude", ",".join(STYLE)], input=sql, capture_output=True, text=True, check=False
    )
    if done.returncode not in {0, 1} or not done.stdout.startswith("["):
        raise RuntimeError(f"squawk failed: {done.stderr}")
    lines = sql.splitlines()
    return [(found["rule_name"], lines[found["line"]].strip()) for found in json.loads(done.stdout)]


def _read(paths: Sequence[str]) -> str:
    return "\n".join((ROOT / "horde" / "store" / path).read_text() for path in paths)


def main() -> int:
    """Print what is wrong with any revision; the exit code is 1 when there is anything."""
    last = last_schema()
    found = [problem for revision in revisions() for problem in problems(revision, last=last)]
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
