"""The flags of `horde worker run`."""

import asyncio
import platform
import signal
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated

import typer

from horde.cli.worker.declaring import VOUCHED
from horde.cli.worker.options import WorkerOptions
from horde.cli.worker.running import Worker
from horde.contract.limits import MAX_WORKER_THREADS
from horde.failures import StartError

app = typer.Typer(help="The reference worker.", no_args_is_help=True)


@app.callback()
def _whole() -> None:
    """The reference worker: serves chat jobs from any OpenAI-compatible server."""


@app.command()
def run(  # noqa: PLR0913 - every parameter is a flag
    *,
    url: Annotated[str, typer.Option(help="The horde, for example http://127.0.0.1:7001.")],
    api_key: Annotated[str, typer.Option(help="The API key of the worker's owner.", envvar="HORDE_WORKER_API_KEY")],
    backend: Annotated[str, typer.Option(help="The OpenAI-compatible server, for example http://127.0.0.1:8080.")],
    model: Annotated[str, typer.Option(help="The model's name in the horde.")],
    name: Annotated[str, typer.Option(help="The worker's name, unique in the horde.")] = "",
    backend_model: Annotated[
        str | None, typer.Option(help="The model's name at the backend; default: its first.")
    ] = None,
    backend_key: Annotated[
        str | None, typer.Option(help="The backend's API key.", envvar="HORDE_WORKER_BACKEND_KEY")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, max=MAX_WORKER_THREADS, help="Jobs at a time; default: the backend's slots.")
    ] = None,
    max_length: Annotated[int | None, typer.Option(min=16, max=16384, help="Tokens of the longest reply.")] = None,
    max_context_length: Annotated[int | None, typer.Option(min=80, help="Tokens of the longest context.")] = None,
    feature: Annotated[list[str] | None, typer.Option(help=f"The backend does this: {', '.join(VOUCHED)}.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Do not declare this, although the backend does it.")
    ] = None,
    overflow_refused: Annotated[
        bool | None,
        typer.Option(
            help="The backend refuses a prompt that does not fit; default: llama.cpp does, for others I check."
        ),
    ] = None,
    plain_sampling: Annotated[
        bool, typer.Option("--plain-sampling", help="Send only OpenAI's own sampling keys.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="Serve one job, then leave.")] = False,
    progress_seconds: Annotated[float, typer.Option(min=0.05, help="Seconds between posts of a streamed job.")] = 0.5,
    grace_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds that running jobs have to end when told to leave.")
    ] = 20,
) -> None:
    """Serve chat jobs until SIGTERM or Ctrl-C; then running jobs may end, or are handed back."""
    _require_known(feature or [])
    _require_addresses({"--url": url, "--backend": backend})
    options = WorkerOptions(
        url=url,
        api_key=api_key,
        backend=backend,
        model=model,
        name=name or f"worker on {platform.node()}",
        backend_key=backend_key,
        backend_model=backend_model,
        threads=threads,
        max_length=max_length,
        max_context_length=max_context_length,
        features=frozenset(feature or ()),
        excluded=frozenset(exclude or ()),
        is_overflow_refused=overflow_refused,
        is_plain_sampling=plain_sampling,
        is_once=once,
        progress_every=timedelta(seconds=progress_seconds),
        grace=timedelta(seconds=grace_seconds),
    )
    asyncio.run(_run(options))


def _require_known(features: Sequence[str]) -> None:
    for feature in features:
        if feature not in VOUCHED:
            raise StartError(f"--feature {feature}: unknown; there are {', '.join(VOUCHED)}")


def _require_addresses(flags: Mapping[str, str]) -> None:
    for flag, address in flags.items():
        if not address.startswith(("http://", "https://")):
            raise StartError(f"{flag} {address}: write it as http://host:port")


async def _run(options: WorkerOptions) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await Worker(options, stop).run()
