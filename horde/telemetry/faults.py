"""How an exception is written into a log: where it came from, and its message only when that cannot quote anybody.

The message of an exception of a library often holds the value that it stumbled over: Postgres prints the row that broke
a rule, a parser the text that it could not read. Those values are prompts, replies, keys and addresses. So messages are
kept of exceptions of our own, whose words we choose, and of those of Python that speak of code or of the system.
"""

import traceback
from types import TracebackType
from typing import Any

from structlog.typing import ExcInfo

_OURS = ("horde.", "services.")

_OF_CODE = (AttributeError, ImportError, NameError, OSError, AssertionError, MemoryError, NotImplementedError)
_OF_CODE_EXACTLY = (RuntimeError, TypeError, IndexError, TimeoutError)
"""Some libraries derive their own from these, so only the very types count."""


def told(error: BaseException) -> str:
    """`Type: message`, or only the type where the message may quote a caller; then the notes that we added."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    message = str(error) if _may_speak(error) else ""
    notes = getattr(error, "__notes__", ())
    return "\n".join([f"{name}: {message}" if message else name, *notes])


def format_exception(exc_info: ExcInfo) -> str:
    """A traceback as Python prints it, chained exceptions first, with messages as `told` gives them. For structlog."""
    return "\n".join(_chain(exc_info[1], exc_info[2], set()))


def format_console(sio: Any, exc_info: ExcInfo) -> None:
    """The same, for structlog's console."""
    sio.write("\n" + format_exception(exc_info))


def _may_speak(error: BaseException) -> bool:
    kind = type(error)
    if kind.__module__.startswith(_OURS):
        return True
    return kind.__module__ == "builtins" and (isinstance(error, _OF_CODE) or kind in _OF_CODE_EXACTLY)


def _chain(error: BaseException, frames: TracebackType | None, seen: set[int]) -> list[str]:
    """The lines of one exception, after those of what led to it."""
    seen.add(id(error))
    lines: list[str] = []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        lines += [*_chain(before, before.__traceback__, seen), "", "which led to:", ""]
    lines += ["Traceback (most recent call last):", *"".join(traceback.format_tb(frames)).splitlines(), told(error)]
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            lines += [f"  | {line}" for line in _chain(one, one.__traceback__, seen)]
    return lines
