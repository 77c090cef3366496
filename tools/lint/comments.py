"""Comments that ask a reader to trust them: a promise without a number, a silenced linter without a reason."""

import re
from collections.abc import Iterator

from tools.lint.source import Finding, Source

_PROMISE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\): \S)")
_NOQA = re.compile(r"#\s*noqa\b")
_NOQA_WITH_REASON = re.compile(r"#\s*noqa: [A-Z]+\d+(, ?[A-Z]+\d+)* --? \S.{5,}")
_IGNORE = re.compile(r"#\s*type:\s*ignore\b")
_IGNORE_WITH_REASON = re.compile(r"#\s*type:\s*ignore\[[\w, -]+\]\s+# \S.{5,}")
_COMMENT_MARKS = {".sql": "--", ".lua": "--", ".proto": "//", ".sh": "#", ".toml": "#", ".yaml": "#"}


def numbered_promises(source: Source) -> Iterator[Finding]:
    """A TODO names an issue, or nobody ever does it: `TODO(#12): what`."""
    for line, comment in _comments(source):
        if _PROMISE.search(comment):
            yield source.finding(line, "a promise without a number: write `TODO(#12): what is to be done`")


def reasons_for_silence(source: Source) -> Iterator[Finding]:
    """A silenced linter says why, or the next one copies the silence: `# noqa: S311 - why`."""
    if not source.is_python:
        return
    for line, comment in source.comments:
        if _NOQA.search(comment) and not _NOQA_WITH_REASON.search(comment):
            yield source.finding(line, "a silenced lint rule without a reason: write `# noqa: CODE - why`")
        if _IGNORE.search(comment) and not _IGNORE_WITH_REASON.search(comment):
            yield source.finding(line, "a silenced type error without a reason: write `# type: ignore[code]  # why`")


def _comments(source: Source) -> Iterator[tuple[int, str]]:
    if source.is_python:
        yield from source.comments
    elif mark := _COMMENT_MARKS.get(source.path.suffix):
        for number, line in enumerate(source.text.splitlines(), start=1):
            _, found, comment = line.partition(mark)
            if found:
                yield number, comment
