"""A Lua or SQL file opens with its own name and a sentence, and names what it takes: its header is its signature."""

import re
from collections.abc import Iterator

from tools.lint.source import Finding, Source

_IN_A_MIGRATION = "horde/store/migrations/"
_OWNED = re.compile(r"^(admission|dispatch|moderation)_")
_DECLARED = re.compile(r"^-- (KEYS|ARGV)\[(\d+)", re.MULTILINE)
_USED = re.compile(r"\b(KEYS|ARGV)\[(\d+)\]")
_RETURNS = re.compile(r"^-- returns\b", re.MULTILINE)


def headed(source: Source) -> Iterator[Finding]:
    """The first line is `-- <file name>: <sentence>`; a function's name has a dot behind its owner."""
    if source.path.suffix not in {".sql", ".lua"}:
        return
    first = source.text.partition("\n")[0]
    stem = source.path.stem
    names = {stem, _OWNED.sub(r"\1.", stem)}
    if source.name.startswith(_IN_A_MIGRATION):
        if not first.startswith("-- "):
            yield source.finding(1, "a migration opens with a comment that says what it does")
    elif not any(re.match(rf"-- {re.escape(name)}: \S", first) for name in names):
        yield source.finding(1, f"the first line is not `-- {stem}: what it does`")


def declared(source: Source) -> Iterator[Finding]:
    """A Lua file declares every key and argument it uses, and what it returns."""
    if source.path.suffix != ".lua":
        return
    body = "\n".join(line for line in source.text.splitlines() if not line.startswith("--"))
    known = set(_DECLARED.findall(source.text))
    for kind, number in sorted(set(_USED.findall(body)) - known):
        yield source.finding(1, f"{kind}[{number}] is used but not declared in the header")
    if not _RETURNS.search(source.text):
        yield source.finding(1, "the header does not say what the script returns")
