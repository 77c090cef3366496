"""Names that promise nothing attract everything: one file with such a name ends as the room with everything in it."""

import ast
import re
from collections.abc import Iterator

from tools.lint.source import Finding, Source

BANNED = frozenset(
    {"utils", "util", "helpers", "helper", "common", "misc", "base", "core", "manager", "managers", "template", "impl"}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def swamp_words(source: Source) -> Iterator[Finding]:
    """No banned word in the name of a file, a folder or a class."""
    if source.name.startswith(("docs/", "deploy/kubernetes/base/")):
        # The pages are found by their titles, and the page that others are copied from is called a template; `base` is
        # the name under which every user of kustomize looks for what overlays change.
        return
    for part in source.path.parts:
        for word in _banned_in(part.split(".")[0]):
            yield source.finding(1, f"the name {part} holds the banned word {word!r}: say what it is for")
    if not source.is_python:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            for word in _banned_in(node.name):
                yield source.finding(node, f"class {node.name} holds the banned word {word!r}: say what it is for")


def _banned_in(name: str) -> list[str]:
    return [word for word in (found.lower() for found in _WORD.findall(name)) if word in BANNED]
