"""`horde bench`: closed-loop benchmarks of a whole system on this machine, load generator included.

Each starts an ephemeral system of its own with rate limits off, unless told to use one that runs.
Loopback only, bounded in time.
"""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from horde.cli.bench.report import show
from horde.cli.bench.system import running_system

app = typer.Typer(no_args_is_help=True, help="Measure a whole system on this machine.")

Seconds = Annotated[float, typer.Option(min=1, max=600, help="How long to measure, after two seconds of warm-up.")]
DataDir = Annotated[
    Path | None, typer.Option(help="Use the system that runs from this data directory instead of an ephemeral one.")
]


@app.command()
def roundtrip(
    seconds: Seconds = 15,
    clients: Annotated[int, typer.Option(min=1, max=256)] = 8,
    workers: Annotated[int, typer.Option(min=1, max=256)] = 8,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Submit, pop, submit the reply, poll the status: whole chat requests per second."""
    from horde.cli.bench.roundtrip import measure

    with running_system(data_dir) as system:
        show(asyncio.run(measure(system, seconds=seconds, clients=clients, workers=workers)), as_json=json)


@app.command()
def progress(
    seconds: Seconds = 10,
    streams: Annotated[int, typer.Option(min=1, max=1000)] = 8,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Progress posts per second of so many running generations."""
    from horde.cli.bench.progress import measure

    with running_system(data_dir) as system:
        show(asyncio.run(measure(system, seconds=seconds, streams=streams)), as_json=json)


@app.command()
def admission(
    seconds: Annotated[float, typer.Option(min=1, max=100, help="How long to measure each, after a warm-up.")] = 10,
    clients: Annotated[
        list[int] | None, typer.Option(min=1, max=256, help="Clients at once; 1 and 8 by default.")
    ] = None,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each number of clients.")] = False,
) -> None:
    """Chat submits per second, one report for each number of clients."""
    from horde.cli.bench.admission import measure

    with running_system(data_dir) as system:
        for report in asyncio.run(measure(system, seconds=seconds, clients=clients or [1, 8])):
            show(report, as_json=json)
