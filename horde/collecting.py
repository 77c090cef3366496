"""Garbage collection in a process that serves: what its start made stays for good and is not looked through again."""

import gc

_YOUNG = 20_000
"""New objects before the youngest are looked through; CPython's number is a tenth. A call makes hundreds, and nearly
all of them go by reference counting: docs/performance.md has what it saves."""


def settle() -> None:
    """Called once, when everything is loaded and opened, right before the first call."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
