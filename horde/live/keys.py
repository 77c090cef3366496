"""The register of keys: every Redis key of the system, declared once, with what is lost if it vanishes."""

import string
from datetime import timedelta
from typing import ClassVar, Literal

type Kind = Literal["string", "hash", "list", "set", "zset", "stream", "channel"]


class Key:
    """One family of keys. Calling it with the ids of its pattern gives the name of one of them.

    `ttl` None means: it has no time to live, and `if_lost` says why that is right.
    """

    _register: ClassVar[dict[str, "Key"]] = {}

    def __init__(self, pattern: str, *, kind: Kind, ttl: timedelta | None, owner: str, if_lost: str) -> None:
        if not if_lost.strip():
            raise ValueError(f"key {pattern}: say what is lost if it vanishes")
        self.pattern = pattern
        self.kind: Kind = kind
        self.ttl: timedelta | None = ttl
        self.owner: str = owner
        self.if_lost = if_lost
        self.ids = tuple(name for _, name, _, _ in string.Formatter().parse(pattern) if name is not None)
        earlier = Key._register.setdefault(pattern, self)
        if (earlier.kind, earlier.ttl, earlier.owner) != (kind, ttl, owner):
            raise ValueError(f"key {pattern} is declared twice, by {earlier.owner} and {owner}")

    def __call__(self, **ids: object) -> str:
        """The name of one key. Raises KeyError when an id is missing and TypeError when one is unknown."""
        if len(ids) != len(self.ids):
            unknown = sorted(set(ids) - set(self.ids))
            if unknown:
                raise TypeError(f"key {self.pattern} has no {', '.join(unknown)}")
        return self.pattern.format(**ids)

    def __repr__(self) -> str:
        return f"Key({self.pattern!r})"

    @classmethod
    def all(cls) -> tuple["Key", ...]:
        """Every key that the imported modules declare, by pattern."""
        return tuple(key for _, key in sorted(cls._register.items()))
