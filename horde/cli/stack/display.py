"""What the person sees while the stack comes up: moving lines on a terminal, plain ones elsewhere. All on stderr."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class Display:
    """Names that start and become ready. Use it in a `with`; `notice` also works outside."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._lines: dict[str, TaskID] = {}
        self._began: dict[str, float] = {}
        self._progress = Progress(
            SpinnerColumn(finished_text="✔"),
            TextColumn("{task.description:<12} {task.fields[state]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._progress.stop()

    def starting(self, name: str) -> None:
        """A thing begins to start."""
        self._began[name] = time.monotonic()
        if self._console.is_terminal and name not in self._lines:
            self._lines[name] = self._progress.add_task(name, total=1, state="starting")

    def ready(self, name: str) -> None:
        """A thing that began is ready."""
        if self._console.is_terminal:
            self._progress.update(self._lines[name], completed=1, state="ready")
        else:
            self.notice(f"{name}: ready after {time.monotonic() - self._began[name]:.1f} s")

    def notice(self, text: str) -> None:
        """A sentence of its own."""
        if self._console.is_terminal:
            self._console.print(text, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)
