"""The `horde` command: finds the module of the command that was asked for, and turns failures into one line.

A command's module is imported only when it runs, so `horde --help` is instant and no command pays for another.
Each module offers either `app` (a Typer application) or a function named like the command.
"""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import typer

from horde.failures import StartError

EXIT_BAD_START = 2  # the same code that a wrong command line has: nothing was started


@dataclass(frozen=True)
class Command:
    """One word after `horde`."""

    name: str
    module: str
    sentence: str
    is_group: bool = False


COMMANDS = (
    Command("up", "horde.cli.up", "Run the whole system on this machine."),
    Command("serve", "horde.cli.serve", "Run one service from its settings."),
    Command("migrate", "horde.cli.migrate", "Bring the database to the newest schema."),
    Command("admin", "horde.cli.admin", "Accounts and the ledger.", is_group=True),
    Command("worker", "horde.cli.worker", "The reference worker.", is_group=True),
    Command("chat", "horde.cli.chat", "Ask a question and stream the reply."),
    Command("retention", "horde.cli.retention", "What the retention rules would remove.", is_group=True),
    Command("bench", "horde.cli.bench", "The benchmarks.", is_group=True),
)


def application(word: str | None) -> typer.Typer:
    """The command line with only the module of `word` imported; the others are there by name and sentence."""
    app = typer.Typer(
        name="horde",
        help="chat-horde: chat and text generation by volunteers' workers.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_whole)
    for command in COMMANDS:
        if find_spec(command.module) is None:
            continue
        if command.name == word:
            _mount(app, command)
        else:
            app.command(command.name, help=command.sentence)(_absent)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the console script and of `python -m horde`. Ends with SystemExit, as Typer does."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        application(words[0] if words else None)(args=words, prog_name="horde")
    except StartError as problem:
        print(f"horde: {problem}", file=sys.stderr)
        return EXIT_BAD_START
    return 0


def _mount(app: typer.Typer, command: Command) -> None:
    module = importlib.import_module(command.module)
    found = getattr(module, "app", None)
    if not isinstance(found, typer.Typer):
        app.command(command.name, help=command.sentence)(getattr(module, command.name))
    elif command.is_group or len(found.registered_commands) != 1:
        app.add_typer(found, name=command.name, help=command.sentence)
    else:
        (only,) = found.registered_commands
        app.command(command.name, help=command.sentence)(only.callback or _absent)


def _whole() -> None:
    """Hold the commands together; without it Typer makes a lone command the whole program."""


def _absent() -> None:
    """Stand in for a command that was not asked for."""
