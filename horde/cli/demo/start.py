"""Bring the demo up inside a running stack: the model, an account that owns the worker, the worker."""

import asyncio
import http.client
import json
import sys
import time
from http import HTTPStatus
from urllib.parse import urlsplit

from horde.cli.demo import MODEL_NAME, missing_packages
from horde.cli.stack.data_folder import DataFolder
from horde.cli.stack.display import Display
from horde.cli.stack.environment import Surroundings
from horde.cli.stack.ports import free_ports
from horde.cli.stack.processes import Launch, Processes

MODEL = "demo-model"
WORKER = "demo-worker"
MODEL_SECONDS = 60.0  # reading 98 MB from a slow disk
WORKER_SECONDS = 30.0
POLL_SECONDS = 0.25
GRACE_SECONDS = 5  # for a reply under way when the stack stops; longer than most of this model's
ACCOUNT_NAME = "demo"


async def start_demo(
    surroundings: Surroundings, folder: DataFolder, processes: Processes, display: Display
) -> str | None:
    """Start model and worker and wait until the worker is offered. The model's name, or None without a demo.

    Without the demo's packages one line says so. A worker that is not there in time is said too, and left to come.
    """
    if missing := missing_packages():
        display.notice(f"no demo worker: {' and '.join(missing)} cannot be installed on this machine; the rest is here")
        return None
    display.starting(MODEL)
    (port,) = free_ports(1)
    environment = {name: value for name, value in surroundings.given.items() if not name.startswith("HORDE_")}
    model = await processes.start(
        Launch(
            name=MODEL,
            command=[sys.executable, "-m", "horde.cli.demo.model", str(port)],
            env=environment,
            cwd=folder.path,
        )
    )
    backend = f"http://127.0.0.1:{port}"
    await model.until(lambda: asyncio.to_thread(_answers, f"{backend}/health"), MODEL_SECONDS)
    display.ready(MODEL)
    display.starting(WORKER)
    await processes.start(
        Launch(
            name=WORKER,
            command=[
                *(sys.executable, "-m", "horde", "worker", "run"),
                *("--url", surroundings.gateway_url, "--backend", backend, "--model", MODEL_NAME),
                *("--name", "demo worker", "--grace-seconds", str(GRACE_SECONDS)),
            ],
            env={**environment, "HORDE_WORKER_API_KEY": await _api_key(surroundings, folder)},
            cwd=folder.path,
            grace_seconds=GRACE_SECONDS + 5,
        )
    )
    if await _is_offered(surroundings.gateway_url, processes):
        display.ready(WORKER)
    else:
        display.notice(f"the demo worker is not online after {WORKER_SECONDS:.0f} s: see {folder.logs}/{WORKER}.log")
    return MODEL_NAME


async def _api_key(surroundings: Surroundings, folder: DataFolder) -> str:
    """The key of the demo's account, made once per database and salt."""
    from horde.cli.admin import create_account

    place = urlsplit(surroundings.stores.database_url)
    embedded = (folder.path / "postgres").exists()
    database = "embedded" if embedded else f"{place.hostname}:{place.port}{place.path}"
    kept = folder.path / "demo.json"
    known: dict[str, str] = json.loads(kept.read_text()) if kept.exists() else {}
    if database not in known:
        # trusted: a model this small is faster than workers of strangers may be
        made = await create_account(
            surroundings.stores.database_url, surroundings.secret_key, ACCOUNT_NAME, trusted=True
        )
        known[database] = made.api_key
        folder.write_private(kept.name, json.dumps(known))
    return known[database]


async def _is_offered(gateway_url: str, processes: Processes) -> bool:
    deadline = time.monotonic() + WORKER_SECONDS
    while time.monotonic() < deadline:
        processes.raise_if_one_died()
        if await asyncio.to_thread(_answers, f"{gateway_url}/api/v2/status/models?type=text&chat=true", MODEL_NAME):
            return True
        await asyncio.sleep(POLL_SECONDS)
    return False


def _answers(url: str, word: str = "") -> bool:
    """Whether a GET is answered with 200 and a body that holds `word`."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=5)
    try:
        connection.request("GET", url.partition(place.netloc)[2])
        answer = connection.getresponse()
        return answer.status == HTTPStatus.OK and word.encode() in answer.read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
