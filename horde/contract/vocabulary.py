"""horde-sdk's chat vocabulary: features, guarantees, limits and derivations that server, workers and clients share.

Its three modules are pure, but importing them the usual way runs the whole SDK (image models, HTTP clients, a model
reference): five seconds for every process. They are loaded from their files instead, under parents that never run.
"""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["chat_declaration", "chat_limits", "chat_policy"]

_PARENTS = (
    "horde_sdk",
    "horde_sdk.generation_parameters",
    "horde_sdk.generation_parameters.text",
    "horde_sdk.worker",
)
_MODULES = (
    "horde_sdk.generation_parameters.text.chat_limits",
    "horde_sdk.generation_parameters.text.chat_policy",
    "horde_sdk.worker.chat_declaration",
)


@contextmanager
def _unrun_parents(root: Path) -> Iterator[None]:
    """The SDK's packages stand in `sys.modules` without having run; afterwards everything is as it was."""
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "horde_sdk"}
    for name in before:
        del sys.modules[name]
    for name in _PARENTS:
        parent = ModuleType(name)
        parent.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = parent
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "horde_sdk"]:
            del sys.modules[name]
        sys.modules.update(before)


def _load() -> tuple[ModuleType, ...]:
    spec = importlib.util.find_spec("horde_sdk")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("horde_sdk", name="horde_sdk")
    with _unrun_parents(Path(spec.origin).parent):
        return tuple(importlib.import_module(name) for name in _MODULES)


if TYPE_CHECKING:
    from horde_sdk.generation_parameters.text import chat_limits, chat_policy
    from horde_sdk.worker import chat_declaration
else:
    chat_limits, chat_policy, chat_declaration = _load()
