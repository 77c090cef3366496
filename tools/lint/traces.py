"""Nothing of the machine a change was made on: a path or a registry's address that works nowhere else."""

import re
from collections.abc import Iterator

from tools.lint.source import Finding, Source

# Written in parts, so that this file does not find itself.
_PATHS = re.compile(r"(?<![\w.])/(" + "|".join(("wor" + "k", "roo" + "t", "home/\\w+")) + r")/[\w.]")
_REGISTRIES = re.compile("|".join((r"pypi" + r"\.org", "python" + "hosted", r"registry" + r"\.npmjs")))


def nothing_of_this_machine(source: Source) -> Iterator[Finding]:
    """No absolute path below somebody's home and no package registry's host name."""
    for number, line in enumerate(source.text.splitlines(), start=1):
        if _PATHS.search(line):
            yield source.finding(number, "a path of one machine")
        if _REGISTRIES.search(line):
            yield source.finding(number, "the address of a package registry")
