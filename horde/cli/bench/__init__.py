"""`horde bench`: closed-loop benchmarks of a whole system on this machine, load generator included.

Each starts an ephemeral system of its own with rate limits off, unless told to use one that runs.
Loopback only, bounded in time.
"""

from json import dumps
from pathlib import Path
from typing import Annotated, Literal

import typer
import uvloop

from horde.cli.bench.report import show
from horde.cli.bench.system import System, running_system

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
    front: Annotated[bool, typer.Option("--front", help="Plain calls of /v1 and pops that wait, no polling.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Submit, pop, submit the reply, poll the status: whole chat requests per second."""
    from horde.cli.bench.roundtrip import measure

    with running_system(data_dir) as system:
        report = uvloop.run(measure(system, seconds=seconds, clients=clients, workers=workers, front=front))
        show(report, as_json=json)


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
        show(uvloop.run(measure(system, seconds=seconds, streams=streams)), as_json=json)


@app.command()
def stream(
    seconds: Seconds = 10,
    streams: Annotated[int, typer.Option(min=1, max=2000, help="Streams that are posted to.")] = 200,
    idle: Annotated[int, typer.Option(min=0, max=10_000, help="Streams that only stand open; 0: none.")] = 2000,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each part.")] = False,
) -> None:
    """Posts beside the bare script, how late a post reaches its client, what relaying costs, what open streams hold."""
    from horde.cli.bench import posts
    from horde.cli.bench import streams as front

    async def run(system: System) -> None:
        for report in await posts.compare(system, seconds=seconds, posters=64):
            show(report, as_json=json)
        show(await front.measure(system, seconds=seconds, streams=streams), as_json=json)
        show(await front.measure(system, seconds=seconds, streams=streams, posts_per_second=0), as_json=json)
        if idle:
            print(dumps({"title": f"{idle} open streams, MB", **await front.memory(system, streams=idle)}))

    with running_system(data_dir) as system:
        uvloop.run(run(system))


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
        for report in uvloop.run(measure(system, seconds=seconds, clients=clients or [1, 8])):
            show(report, as_json=json)


@app.command()
def replies(
    seconds: Annotated[float, typer.Option(min=1, max=60, help="How long to measure; jobs are popped before.")] = 10,
    workers: Annotated[int, typer.Option(min=1, max=256)] = 8,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Replies handed in per second: verified, paid and stored."""
    from horde.cli.bench import stages

    with running_system(data_dir) as system:
        show(uvloop.run(stages.replies(system, seconds=seconds, workers=workers)), as_json=json)


@app.command()
def status(
    seconds: Seconds = 10,
    clients: Annotated[int, typer.Option(min=1, max=256)] = 8,
    waiting: Annotated[int, typer.Option(min=1, max=100_000, help="Requests that wait.")] = 1000,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Status reads per second of requests that wait."""
    from horde.cli.bench import stages

    with running_system(data_dir) as system:
        show(uvloop.run(stages.status(system, seconds=seconds, clients=clients, waiting=waiting)), as_json=json)


@app.command()
def media(
    seconds: Seconds = 15,
    images: Annotated[int, typer.Option(min=1, max=20, help="Images of about 1 MB in the one large request.")] = 20,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Images stored: milliseconds for each kind and for a full request, and the peak memory."""
    from horde.cli.bench.media import measure

    with running_system(data_dir) as system:
        show(uvloop.run(measure(system, seconds=seconds, images=images)), as_json=json)


@app.command()
def validation(
    seconds: Seconds = 6,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """CPU time in which the largest chat bodies are taken or refused; needs no system."""
    from horde.cli.bench.validation import measure

    show(measure(seconds=seconds), as_json=json)


@app.command()
def pop(
    waiting: Annotated[
        list[int] | None,
        typer.Option(min=1, max=5_000_000, help="Lengths of the queue; 100, 10,000 and 1,000,000 by default."),
    ] = None,
    mix: Annotated[
        Literal["all", "features", "length", "models", "target", "empty"],
        typer.Option(help="Why all but one in a hundred do not fit the worker; all: all fit, empty: none does."),
    ] = "all",
    seconds: Annotated[float, typer.Option(min=1, max=100, help="How long to measure each, after a warm-up.")] = 10,
    workers: Annotated[int, typer.Option(min=1, max=256)] = 1,
    data_dir: DataDir = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each length.")] = False,
) -> None:
    """Pops per second from queues of different lengths, one report for each, shortest first."""
    from horde.cli.bench.pop import measure

    async def run(system: System) -> None:
        lengths = waiting or [100, 10_000, 1_000_000]
        async for report in measure(system, waiting=lengths, mix=mix, seconds=seconds, workers=workers):
            show(report, as_json=json)

    with running_system(data_dir) as system:
        uvloop.run(run(system))


@app.command()
def moderation(
    events: Annotated[int, typer.Option(min=1, max=10_000_000, help="Events, spread over a year.")] = 1_000_000,
    calls: Annotated[int, typer.Option(min=1, max=1000, help="How often each page is read.")] = 20,
    backlog: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Rows past the window of each step of retention.")
    ] = 25_000,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Use the system that runs from this data directory. The events stay there for good."),
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each part.")] = False,
) -> None:
    """Every page of a moderator on so many events, through the gateway; then retention with a backlog, its proof."""
    from horde.cli.bench.moderation import SETTINGS, measure

    async def run(system: System) -> None:
        async for report in measure(system, events=events, calls=calls, backlog=backlog):
            show(report, as_json=json)

    with running_system(data_dir, SETTINGS) as system:
        uvloop.run(run(system))
