"""Brings the whole system up on one machine, watches it, and takes it down in order."""

import asyncio
import contextlib
import http.client
import json
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from horde.cli.stack.console import follow
from horde.cli.stack.data_folder import DataFolder, opened, write_private
from horde.cli.stack.display import Display
from horde.cli.stack.environment import SERVICES, StackSettings, Stores, Surroundings
from horde.cli.stack.ports import free_ports, is_free
from horde.cli.stack.processes import Died, Launch, Process, Processes
from horde.cli.stack.stores import NAMES as STORES
from horde.cli.stack.stores import StoreSet, together
from horde.failures import StartError

READY_SECONDS = 90.0  # six interpreters starting at once on a small, busy machine
ATTEMPTS = 3  # a port can be taken by another program between our look and the service's
DRAIN_MARGIN_SECONDS = 5.0  # what a service gets beyond its own drain time before it is killed
DRAIN_SECONDS = 20.0
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Wishes:
    """What the command line asks for."""

    port: int
    data_dir: Path | None  # None: a temporary one
    demo: bool
    console_log: bool


class Supervisor:
    """One stack, from nothing to `ready` and back."""

    def __init__(self, wishes: Wishes, folder: DataFolder, display: Display, environ: Mapping[str, str]) -> None:
        self._wishes = wishes
        self._folder = folder
        self._display = display
        self._environ = environ
        self._settings = settings_from(environ)
        self._processes = Processes(folder.logs, inherited=[folder.children.fileno()])
        self._stores = StoreSet(folder, self._processes, self._settings, display, durable=wishes.data_dir is not None)
        self._stop = asyncio.Event()
        self._asked = 0

    async def run(self) -> int:
        """Start everything, say so, wait for a signal or a death. Returns the exit code; raises StartError."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal)
        async with contextlib.AsyncExitStack() as cleaning:
            cleaning.push_async_callback(self._take_down)
            if self._wishes.console_log:
                following = asyncio.create_task(follow(self._folder.logs))
                cleaning.callback(following.cancel)
            asked = asyncio.create_task(self._stop.wait())
            cleaning.callback(asked.cancel)
            starting = asyncio.create_task(self._bring_up())
            await asyncio.wait({starting, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                await asyncio.wait({starting})
                return 0
            starting.result()
            death = asyncio.create_task(self._processes.first_death())
            cleaning.callback(death.cancel)
            await asyncio.wait({death, asked}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return 0
            self._display.notice(death.result().epitaph())
            return 1

    async def _bring_up(self) -> None:
        with self._display:
            if not is_free(self._wishes.port):
                raise StartError(f"port {self._wishes.port} is taken: choose another with --port")
            stores = await self._stores.start()
            buckets = asyncio.create_task(self._stores.prepare_buckets(self._wishes.port))
            try:
                surroundings = await self._start_services(stores)
                await buckets
            finally:
                buckets.cancel()
            model = await self._start_demo(surroundings) if self._wishes.demo else None
        write_private(self._folder.stack_file, json.dumps(self._as_json(surroundings), indent=2) + "\n")
        print(_announcement(surroundings.gateway_url, model), flush=True)

    async def _start_services(self, stores: Stores) -> Surroundings:
        for attempt in range(1, ATTEMPTS + 1):
            ports = dict(zip(SERVICES[:-1], free_ports(len(SERVICES) - 1), strict=True))
            surroundings = Surroundings(
                given=self._environ,
                stores=stores,
                secret_key=self._settings.secret_key or self._folder.secrets.secret_key,
                gateway_port=self._wishes.port,
                grpc_ports=ports,
                run=self._folder.run,
                log_format=self._settings.log_format or ("console" if self._wishes.console_log else "json"),
            )
            try:
                await together(*(self._start_service(name, surroundings) for name in SERVICES))
            except Died as death:
                if not is_free(self._wishes.port) and death.process.name == "gateway":
                    raise StartError(f"port {self._wishes.port} is taken: choose another with --port") from None
                if attempt == ATTEMPTS or not any(map(_is_taken, death.process.tail().splitlines())):
                    raise
                await self._processes.stop(*SERVICES)
            else:
                return surroundings
        raise AssertionError("the last attempt returns or raises")

    async def _start_service(self, name: str, surroundings: Surroundings) -> None:
        self._display.starting(name)
        addresses = surroundings.address_file(name)
        addresses.unlink(missing_ok=True)
        process = await self._processes.start(
            Launch(
                name=name,
                command=[sys.executable, "-m", "horde", "serve", name],
                env=surroundings.of(name),
                cwd=ROOT,
                grace_seconds=DRAIN_SECONDS + DRAIN_MARGIN_SECONDS,
            )
        )
        await self._until_ready(process, addresses)
        self._display.ready(name)

    async def _until_ready(self, process: Process, addresses: Path) -> None:
        async def ready() -> bool:
            self._processes.raise_if_one_died()
            if not addresses.exists():
                return False
            metrics = json.loads(addresses.read_text())["metrics"]
            return await asyncio.to_thread(_is_ready, metrics)

        await process.until(ready, READY_SECONDS)

    async def _start_demo(self, surroundings: Surroundings) -> str | None:
        from horde.cli.demo.start import start_demo

        return await start_demo(surroundings, self._folder, self._processes, self._display)

    async def _take_down(self) -> None:
        """Those who ask stop before those who answer."""
        with contextlib.suppress(FileNotFoundError):
            self._folder.stack_file.unlink()
        if self._processes.pids:
            self._display.notice("stopping …")
        for names in (("demo-worker",), ("demo-model",), ("gateway",), SERVICES, STORES):
            await self._processes.stop(*names)
        self._stores.clean_up()

    def _on_signal(self) -> None:
        self._asked += 1
        self._stop.set()
        if self._asked > 1:
            self._display.notice("stopping at once")
            self._processes.kill_all()

    def _as_json(self, surroundings: Surroundings) -> dict[str, object]:
        """What tools read. The keys are a promise."""
        stores = surroundings.stores
        told = {name: json.loads(surroundings.address_file(name).read_text()) for name in SERVICES}
        return {
            "gateway_url": surroundings.gateway_url,
            "database_url": stores.database_url,
            "redis_url": stores.redis_url,
            "s3_endpoint": stores.s3_endpoint,
            "s3_access_key": stores.s3_access_key,
            "s3_secret_key": stores.s3_secret_key,
            "metrics": {name: addresses["metrics"] for name, addresses in told.items()},
            "grpc": {name: surroundings.target(name) for name in surroundings.grpc_ports},
            "pids": self._processes.pids,
        }


def settings_from(environ: Mapping[str, str]) -> StackSettings:
    """The user's own servers and names. Raises SettingsError."""
    from horde.settings import load

    return load(StackSettings, environ)


def run_stack(wishes: Wishes, environ: Mapping[str, str]) -> int:
    """Run one stack until it is told to stop. Returns the exit code; raises StartError when it cannot start."""
    display = Display()
    with opened(wishes.data_dir, display.notice) as folder:

        async def supervise() -> int:
            return await Supervisor(wishes, folder, display, environ).run()

        try:
            return asyncio.run(supervise())
        except Died as death:
            display.notice(str(death))
            return 1


def _is_ready(metrics_url: str) -> bool:
    place = urlsplit(metrics_url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except http.client.HTTPException:
        return False
    finally:
        connection.close()


def _is_taken(line: str) -> bool:
    return any(words in line.lower() for words in ("is taken", "address already in use", "address in use"))


def _announcement(url: str, model: str | None) -> str:
    name = model or "MODEL"
    hint = "" if model else "\nNo worker is here yet: `horde worker run --help` says how to bring one.\n"
    return f"""ready: {url}
{hint}
curl -N {url}/v1/chat/completions -H 'Authorization: Bearer 0000000000' -H 'Content-Type: application/json' \\
  -d '{{"model": "{name}", "stream": true, "temperature": 0.2, "max_tokens": 100,
       "messages": [{{"role": "user", "content": "Name three colours."}}]}}'

from openai import OpenAI
client = OpenAI(base_url="{url}/v1", api_key="0000000000")
for chunk in client.chat.completions.create(
    model="{name}",
    messages=[{{"role": "user", "content": "Name three colours."}}],
    temperature=0.2,
    max_tokens=100,
    stream=True,
):
    print(chunk.choices[0].delta.content or "" if chunk.choices else "", end="", flush=True)
"""
