"""One file as the rules see it, and what a rule says about it."""

import ast
import functools
import io
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be."""

    name: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.name}:{self.line}: {self.sentence}"


@dataclass(frozen=True)
class Source:
    """A file by its name relative to the root, with its text."""

    name: str
    text: str

    @property
    def path(self) -> PurePosixPath:
        """The name as a path."""
        return PurePosixPath(self.name)

    @property
    def is_python(self) -> bool:
        """Whether `tree` and `comments` make sense."""
        return self.name.endswith(".py")

    @property
    def is_shipped(self) -> bool:
        """Whether it is part of the product: not a test, not a tool."""
        return self.name.startswith(("horde/", "services/"))

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of a Python file."""
        return ast.parse(self.text)

    @functools.cached_property
    def comments(self) -> list[tuple[int, str]]:
        """Line number and text of every comment of a Python file."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]

    def finding(self, where: ast.AST | int, sentence: str) -> Finding:
        """A finding at a node or a line."""
        line = where if isinstance(where, int) else getattr(where, "lineno", 1)
        return Finding(self.name, line, sentence)


type Rule = Callable[[Source], Iterator[Finding]]


def dotted(node: ast.AST) -> str:
    """`a.b.c` for such an expression; what is not a plain chain of names ends the chain on the left."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Call):
        return f"{dotted(node.func)}()"
    return node.id if isinstance(node, ast.Name) else ""
