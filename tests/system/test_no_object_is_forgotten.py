"""Services are killed at every step at which an object is on its way into the store or out of it; none stays behind."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import asyncpg
import httpx
import pytest

from horde.cli.stack.buckets import client
from horde.cli.stack.environment import SERVICES
from horde.contract.vocabulary import chat_declaration, chat_policy
from tests.fakes.pictures import data_url, noise
from tests.fakes.trapped_store import TrappedStore
from tests.servers import Servers
from tests.system.services import Services
from tests.system.volunteer import Volunteer

MODEL = "test/Seeing-7B"
TTL_SECONDS = 3
PATIENCE_SECONDS = 60
IMAGE = data_url(noise(200, kind="JPEG"))


@dataclass
class Stage:
    """A system whose store can be stopped, and who looks into that store."""

    services: Services
    store: TrappedStore
    bucket: str
    s3: Any
    key: str
    database_url: str

    def submit(self, until: threading.Event) -> None:
        """Requests with an image whose messages are offloaded as well, until one has got that far.

        What each is answered does not matter: who asks is not yet connected to a service that has just started again.
        """
        body = {
            "model": MODEL,
            "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": IMAGE}}]}],
        }
        url = f"{self.services.url}/api/v2/generate/chat/async"
        while not until.is_set():
            with contextlib.suppress(httpx.TransportError):
                httpx.post(url, json=body, headers={"apikey": self.key}, timeout=70)
            time.sleep(0.05)

    def submitting(self, until: threading.Event) -> threading.Thread:
        """The same, beside the test."""
        thread = threading.Thread(target=self.submit, args=(until,), daemon=True)
        thread.start()
        return thread

    def objects(self) -> list[str]:
        """What the store holds."""
        return [found["Key"] for found in self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", ())]

    def rows(self, what: str = "count(*)", where: str = "true") -> Any:
        """A look at the requests."""
        return asyncio.run(_fetch(self.database_url, f"SELECT {what} FROM dispatch.waiting_prompts WHERE {where}"))  # noqa: S608 - the test's own words

    def killed_at(self, method: bytes, when: Literal["before", "after"], *names: str, skip: int = 0) -> None:
        """Services are killed when a call to the store is stopped, after `skip` that were let pass."""
        trap = self.store.trap(method, when)
        submitting = self.submitting(trap.reached)
        for _ in range(skip):
            assert trap.reached.wait(PATIENCE_SECONDS), "the store was not called"
            passed, trap = trap, self.store.trap(method, when)
            passed.released.set()
        assert trap.reached.wait(PATIENCE_SECONDS), "the store was not called"
        for name in names:
            self.services.kill(name)
        trap.released.set()
        submitting.join(70)
        self.services.start(*names)


async def _fetch(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


@pytest.fixture
def stage(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder: Path = tmp_path_factory.mktemp("services")
    database, s3 = servers.new_database(), servers.object_store()
    with TrappedStore(s3.endpoint) as store:
        bucket = s3.bucket("forgotten")
        services = Services(
            folder,
            database,
            servers.redis_url(),
            replace(s3, endpoint=store.endpoint),
            {
                "R2_SOURCE_IMAGE_BUCKET": bucket,
                "HORDE_CHAT_MESSAGES_OFFLOAD_ENABLED": "true",
                "HORDE_CHAT_MESSAGES_OFFLOAD_BYTES": "1000",
                "HORDE_CLEANUP_INTERVAL_SECONDS": "0.5",
                "HORDE_REQUEST_TTL_SECONDS": str(TTL_SECONDS),
                "HORDE_WORKER_ONLINE_SECONDS": "3600",
            },
        )
        try:
            services.start(*SERVICES)
            owner = services.account("stage_owner")
            looker = client(s3.endpoint, s3.access_key, s3.secret_key, s3.region)
            yield Stage(services, store, bucket, looker, owner.api_key, database.url)
            looker.close()
        finally:
            services.stop()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_killed_service_leaves_an_object_behind(stage: Stage) -> None:
    sees = Volunteer(
        stage.services.url,
        stage.key,
        name="seeing once",
        model=MODEL,
        features=frozenset({chat_policy.ChatFeature.VISION}),
        transports=frozenset({chat_declaration.ChatImageTransport.URL}),
    )
    sees.pop_once()
    sees._http.close()
    stage.killed_at(b"PUT", "before", "media")
    stage.killed_at(b"PUT", "after", "media")
    stage.killed_at(b"PUT", "after", "admission")
    stage.killed_at(b"PUT", "after", "media", "admission", skip=1)  # the messages, after the image
    # what is above is deleted meanwhile, so a delete comes soon
    stage.killed_at(b"POST", "before", "media")
    stage.killed_at(b"POST", "after", "dispatch")
    end = time.monotonic() + PATIENCE_SECONDS
    while (stage.objects() or stage.rows()) and time.monotonic() < end:
        time.sleep(0.2)
    assert (stage.objects(), stage.rows()) == ([], 0)
    assert stage.services.ledger_faults() == []
