"""Lua scripts as files whose comment header is their signature, and the signature is checked."""

import hashlib
import re
from collections.abc import Sequence
from importlib import resources
from time import perf_counter
from typing import Any

from redis.exceptions import NoScriptError

from horde.live.client import Live, LiveUnavailable
from horde.telemetry.metrics import SECONDS, Histogram, Timings

_DECLARED = re.compile(r"^-- (KEYS|ARGV)\[(\d+)(\.\.)?\]", re.MULTILINE)
_USED = re.compile(r"\b(KEYS|ARGV)\[(\d+)\]")

_SCRIPT_SECONDS = Histogram(
    "horde_live_script_seconds",
    "Time of one Lua script as its caller sees it.",
    ("script", "outcome"),
    buckets=SECONDS,
)

type Argument = str | bytes | int | float


class ScriptHeaderError(Exception):
    """A Lua file's header does not say what the script takes."""


class Script:
    """One move in Redis. Takes what its header declares; a last `ARGV[n..]` declares "and any number more"."""

    def __init__(self, live: Live, package: str, name: str) -> None:
        body = (resources.files(package) / "scripts" / f"{name}.lua").read_text(encoding="utf-8")
        self.name = name
        self._live = live
        self._body = body
        # The server names a script by its SHA-1; nothing is kept secret by it.
        self._sha = hashlib.sha1(body.encode(), usedforsecurity=False).hexdigest()
        self.keys, self._keys_open = _declared(name, body, "KEYS")
        self.args, self._args_open = _declared(name, body, "ARGV")
        self._timings = Timings(_SCRIPT_SECONDS, name)
        self._told = f"script {name}"

    async def __call__(self, *, keys: Sequence[str | bytes], args: Sequence[Argument] = ()) -> Any:
        """Runs the script and gives its answer as bytes, ints and lists.

        Raises LiveUnavailable when Redis cannot be reached, TypeError when the call does not fit the header.
        """
        self._check("keys", len(keys), self.keys, at_least=self._keys_open)
        self._check("arguments", len(args), self.args, at_least=self._args_open)
        started = perf_counter()
        outcome = "error"
        try:
            with self._live.guard(self._told) as redis:
                try:
                    answer = await redis.evalsha(self._sha, len(keys), *keys, *args)
                except NoScriptError:
                    # The first call ever, or Redis was restarted: EVAL also teaches it the script.
                    answer = await redis.eval(self._body, len(keys), *keys, *args)
            outcome = "ok"
            return answer
        except LiveUnavailable:
            outcome = "unavailable"
            raise
        finally:
            self._timings.observe(outcome, perf_counter() - started)

    def words(self, *, keys: Sequence[str | bytes], args: Sequence[Argument] = ()) -> tuple[Argument, ...]:
        """The same call as the words of one command, for who sends many in one round trip.

        Redis may answer NoScriptError: call the script by itself then. Raises TypeError as a call does.
        """
        self._check("keys", len(keys), self.keys, at_least=self._keys_open)
        self._check("arguments", len(args), self.args, at_least=self._args_open)
        return ("EVALSHA", self._sha, len(keys), *keys, *args)

    def _check(self, what: str, given: int, declared: int, *, at_least: bool) -> None:
        if given != declared and not (at_least and given >= declared):
            raise TypeError(f"script {self.name} takes {declared} {what}{' or more' if at_least else ''}, not {given}")


def _declared(name: str, body: str, kind: str) -> tuple[int, bool]:
    """How many of `kind` the header declares, and whether more may follow."""
    lines = [(int(number), bool(more)) for found, number, more in _DECLARED.findall(body) if found == kind]
    numbers = [number for number, _ in lines]
    if numbers != list(range(1, len(numbers) + 1)):
        raise ScriptHeaderError(f"script {name}: the header counts {kind} as {numbers}; wanted 1, 2, 3, …")
    is_open = bool(lines) and lines[-1][1]
    code = re.sub(r"--.*", "", body)
    used = {int(number) for found, number in _USED.findall(code) if found == kind}
    undeclared = sorted(used - set(numbers))
    if undeclared and not is_open:
        raise ScriptHeaderError(f"script {name}: {kind}{undeclared} is used but not declared in the header")
    # An open tail may be empty, so its own line asks for nothing.
    return (len(numbers) - 1, True) if is_open else (len(numbers), False)
