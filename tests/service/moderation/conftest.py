"""The moderation service that each test of this folder gets: real Postgres, real Redis."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import asyncpg
import pytest

from horde.contract.api_keys import hash_api_key
from horde.live import Live
from horde.store import Store
from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from horde_pb.moderation.v1.addresses_pb2_grpc import AddressesServiceStub
from horde_pb.moderation.v1.filters_pb2_grpc import FiltersServiceStub
from horde_pb.moderation.v1.moderation_service_pb2_grpc import ModerationServiceStub
from horde_pb.moderation.v1.reports_service_pb2_grpc import ReportsServiceStub
from horde_pb.moderation.v1.review_service_pb2_grpc import ReviewServiceStub
from services.moderation.deps import Deps, compose
from services.moderation.servicer import add_to
from services.moderation.settings import ModerationServiceSettings
from tests.fakes.clock import FakeClock
from tests.fakes.serving import served
from tests.servers import Database

DEADLINE = timedelta(seconds=30)
SECRET = "a secret"
MODERATOR, FLAGGED = 0, 3
"""Numbers of roles, as they are stored."""


@dataclass(frozen=True)
class Moderation:
    """The service as its callers see it, and what stands around it."""

    stub: ModerationServiceStub
    filters: FiltersServiceStub
    addresses: AddressesServiceStub
    review: ReviewServiceStub
    reports: ReportsServiceStub
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

    async def account(self, name: str, *roles: int) -> str:
        """A new account's key. The first account's alias is `name#1`."""
        key = f"the key of {name}"
        user_id = await self.owner.fetchval(
            "INSERT INTO admission.users (username, oauth_id, api_key) VALUES ($1, $1, $2) RETURNING id",
            name,
            hash_api_key(SECRET, key),
        )
        for role in roles:
            await self.owner.execute(
                "INSERT INTO admission.user_roles (user_id, user_role) VALUES ($1, $2)", user_id, role
            )
        return key

    async def events(self) -> list[asyncpg.Record]:
        return await self.owner.fetch("SELECT * FROM moderation.moderation_events ORDER BY id")


@asynccontextmanager
async def _serving(database: Database, redis_url: str, **changed: Any) -> AsyncIterator[Moderation]:
    given: dict[str, Any] = {
        "database_url": database.url_for("horde_moderation"),
        "redis_url": redis_url,
        "secret_key": SECRET,
        "admins": ("boss#1",),
    }
    settings = ModerationServiceSettings(**{**given, **changed})
    clock = FakeClock()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(Store.open(settings, application_name="test"))
        live = await stack.enter_async_context(Live.open(settings))
        owner = await asyncpg.connect(database.url)
        stack.push_async_callback(owner.close)
        deps = compose(store, live, clock, settings)
        neighbour = await stack.enter_async_context(served("moderation", lambda server: add_to(server, deps)))

        async def call(method: Any, request: Any) -> Any:
            return await neighbour.once(method, deadline=DEADLINE)(request)

        channel = neighbour.channel
        yield Moderation(
            stub=ModerationServiceStub(channel),
            filters=FiltersServiceStub(channel),
            addresses=AddressesServiceStub(channel),
            review=ReviewServiceStub(channel),
            reports=ReportsServiceStub(channel),
            deps=deps,
            live=live,
            clock=clock,
            owner=owner,
            call=call,
        )
        await deps.settle()
        deps.evidence.close()


@pytest.fixture
async def moderation(database: Database, redis_url: str) -> AsyncIterator[Moderation]:
    """A moderation service with everything in order and no filters."""
    async with _serving(database, redis_url) as service:
        yield service


@pytest.fixture
def serving_moderation(database: Database) -> Callable[..., AbstractAsyncContextManager[Moderation]]:
    """Serves moderation on a Redis of the test's choice, with settings of its choice."""
    return partial(_serving, database)
