"""`horde up`: the whole system on one machine."""

import os
from pathlib import Path
from typing import Annotated

import typer


def up(
    port: Annotated[int, typer.Option(min=1, max=65535, help="The gateway's port on 127.0.0.1.")] = 7001,
    data_dir: Annotated[Path, typer.Option(help="Where data is kept between runs.")] = Path(".horde"),
    ephemeral: Annotated[bool, typer.Option("--ephemeral", help="Keep nothing: use a temporary data folder.")] = False,
    demo: Annotated[bool, typer.Option(help="Add a worker that answers with a small real model.")] = False,
    console_log: Annotated[bool, typer.Option("--console-log", help="Show every process's log here.")] = False,
) -> None:
    """Run the whole system on this machine until Ctrl-C.

    Embedded Postgres, Valkey and S3 are used unless HORDE_DATABASE_URL, HORDE_REDIS_URL or HORDE_S3_ENDPOINT name
    servers of your own. Every other HORDE_* setting in the environment reaches the services.
    """
    from horde.cli.stack.supervisor import Wishes, run_stack

    wishes = Wishes(port=port, data_dir=None if ephemeral else data_dir, demo=demo, console_log=console_log)
    raise typer.Exit(run_stack(wishes, os.environ))
