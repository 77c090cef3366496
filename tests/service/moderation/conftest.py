"""The moderation service that each test of this folder gets: real Postgres, real Redis."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import pytest

from horde.live import Live
from horde.store import Store
from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from horde_pb.moderation.v1.moderation_service_pb2_grpc import (
    ModerationServiceStub,
    add_ModerationServiceServicer_to_server,
)
from services.moderation.deps import Deps, compose
from services.moderation.servicer import ModerationServicer
from services.moderation.settings import ModerationServiceSettings
from tests.fakes.clock import FakeClock
from tests.fakes.serving import served
from tests.servers import Database

DEADLINE = timedelta(seconds=30)


@dataclass(frozen=True)
class Moderation:
    """The service as its callers see it, and what stands around it."""

    stub: ModerationServiceStub
    deps: Deps
    live: Live
    clock: FakeClock
    owner: "asyncpg.Connection[asyncpg.Record]"
    call: Callable[..., Any]

    async def screen(self, *texts: str, **changed: Any) -> pb.ScreenPromptResponse:
        """Screens a prompt of an ordinary account."""
        ask: dict[str, Any] = {
            "account_id": 7,
            "address": "9.8.7.6",
            "prompt": "\n".join(f"user: {text}" for text in texts),
            "texts": texts,
            "models": ["a model"],
            **changed,
        }
        answer: pb.ScreenPromptResponse = await self.call(self.stub.ScreenPrompt, pb.ScreenPromptRequest(**ask))
        return answer

    async def seconds_left(self, address: str) -> int:
        answer = await self.call(self.stub.CheckAddress, pb.CheckAddressRequest(address=address))
        return int(answer.standing.timeout_seconds)

    async def add_filter(self, kind: int, pattern: str, replacement: str = "") -> None:
        await self.owner.execute(
            "INSERT INTO moderation.filters (regex, filter_type, replacement, user_id) VALUES ($1, $2, $3, 1)",
            pattern,
            kind,
            replacement,
        )
        self.clock.advance(timedelta(seconds=5))

    async def events(self) -> list[asyncpg.Record]:
        return await self.owner.fetch("SELECT * FROM moderation.moderation_events ORDER BY id")


@asynccontextmanager
async def _serving(database: Database, redis_url: str) -> AsyncIterator[Moderation]:
    settings = ModerationServiceSettings(
        database_url=database.url_for("horde_moderation"), redis_url=redis_url, secret_key="a secret"
    )
    clock = FakeClock()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(Store.open(settings, application_name="test"))
        live = await stack.enter_async_context(Live.open(settings))
        owner = await asyncpg.connect(database.url)
        stack.push_async_callback(owner.close)
        deps = compose(store, live, clock, settings)
        add = partial(add_ModerationServiceServicer_to_server, ModerationServicer(deps))
        neighbour = await stack.enter_async_context(served("moderation", add))

        async def call(method: Any, request: Any) -> Any:
            return await neighbour.once(method, deadline=DEADLINE)(request)

        yield Moderation(ModerationServiceStub(neighbour.channel), deps, live, clock, owner, call)
        await deps.settle()


@pytest.fixture
async def moderation(database: Database, redis_url: str) -> AsyncIterator[Moderation]:
    """A moderation service with everything in order and no filters."""
    async with _serving(database, redis_url) as service:
        yield service


@pytest.fixture
def serving_moderation(database: Database) -> Callable[[str], AbstractAsyncContextManager[Moderation]]:
    """Serves moderation on a Redis of the test's choice."""
    return partial(_serving, database)
