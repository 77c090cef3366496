"""Run every rule over every file that is or would be committed; the exit code is 1 when anything is found."""

import sys
from collections.abc import Iterator

from tools.lint import boundaries, comments, headers, names, traces
from tools.lint.source import Finding, Rule, Source
from tools.sizes import ROOT, tracked_files

RULES: tuple[Rule, ...] = (
    names.swamp_words,
    comments.numbered_promises,
    comments.reasons_for_silence,
    boundaries.sql_in_its_files,
    boundaries.environment_in_settings,
    boundaries.time_through_the_clock,
    boundaries.nothing_remote_in_a_transaction,
    boundaries.small_labels,
    boundaries.nothing_patched_by_name,
    headers.headed,
    headers.declared,
    traces.nothing_of_this_machine,
)
TEXT = frozenset(
    {".py", ".sql", ".lua", ".proto", ".md", ".toml", ".yaml", ".yml", ".sh", ".lock", ".json", ".html", ""}
)


def findings(source: Source) -> Iterator[Finding]:
    """What all rules say about one file."""
    for rule in RULES:
        yield from rule(source)


def main() -> int:
    """Print every finding; the exit code is 1 when there is any."""
    found = [
        finding
        for name in tracked_files()
        if (ROOT / name).suffix in TEXT
        for finding in findings(Source(name, (ROOT / name).read_text(errors="replace")))
    ]
    for finding in found:
        print(finding, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
