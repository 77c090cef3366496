"""A whole admission service over a real database, with the shortcuts its tests need."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import asyncpg
import grpc

from horde.cli.admin import CreatedAccount, create_account
from horde.contract.models import ModelReference
from horde.rpc import options
from horde.rpc.client import Neighbour
from horde.rpc.handling import Registrar, Surroundings
from horde_pb.admission.v1 import admission_service_pb2 as pb
from horde_pb.admission.v1 import admission_service_pb2_grpc as pb_grpc
from horde_pb.admission.v1.accounts_service_pb2_grpc import AccountsServiceStub
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.admission.__main__ import opened
from services.admission.deps import Deps
from services.admission.servicer import add_to
from services.admission.settings import AdmissionSettings
from tests.fakes.admission_neighbours import FakeMedia, FakeModeration, serving_neighbours
from tests.fakes.clock import FakeClock
from tests.servers import Database

SECRET = "a-salt-for-tests"
_PATIENCE = timedelta(seconds=20)
MODEL = "org/listed-13B"
REFERENCE = ModelReference({MODEL: {"parameters": 13_000_000_000}, "org/big-70B": {"parameters": 70_000_000_000}})


@dataclass
class AdmissionWorld:
    """The service's stub, its dependencies, its fakes, and the owner's own connection to the database."""

    stub: Any
    accounts: Any
    neighbour: Neighbour
    deps: Deps
    clock: FakeClock
    moderation: FakeModeration
    media: FakeMedia
    database: Database
    sql: "asyncpg.Connection[asyncpg.Record]"
    settings: dict[str, Any]

    async def account(self, name: str = "client", **facts: Any) -> CreatedAccount:
        """A new account."""
        return await create_account(self.database.url, SECRET, name, **facts)

    async def call(self, name: str, request: Any) -> Any:
        """One RPC of AccountsService. Raises Refusal."""
        return await self.neighbour.once(getattr(self.accounts, name), deadline=_PATIENCE)(request)

    async def admit(self, body: Any, *, key: str = "0000000000", **caller: str) -> pb.AdmitChatResponse:
        """One submission. Raises Refusal."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"remote_address": "203.0.113.9", "client_agent": "tests:1:tests", **caller}
        request = pb.AdmitChatRequest(caller=Caller(api_key=key, **sent), body=raw)
        admit = self.neighbour.once(self.stub.AdmitChat, deadline=_PATIENCE)
        return cast("pb.AdmitChatResponse", await admit(request))

    async def admit_text(self, body: Any, *, key: str = "0000000000", **caller: str) -> pb.AdmitTextResponse:
        """One text submission. Raises Refusal."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"remote_address": "203.0.113.9", "client_agent": "tests:1:tests", **caller}
        request = pb.AdmitTextRequest(caller=Caller(api_key=key, **sent), body=raw)
        admit = self.neighbour.once(self.stub.AdmitText, deadline=_PATIENCE)
        return cast("pb.AdmitTextResponse", await admit(request))

    async def read_back(self, request_id: str, key: str) -> dict[str, Any]:
        """What was submitted as a text request. Raises Refusal."""
        read = self.neighbour.once(self.stub.GetTextSubmission, deadline=_PATIENCE)
        answer = await read(pb.GetTextSubmissionRequest(api_key=key, request_id=request_id))
        return cast("dict[str, Any]", json.loads(answer.submission))

    async def lend(self, owner: int, **columns: Any) -> str:
        """A shared key of this owner."""
        row = {"id": uuid4(), "user_id": owner, **columns}
        places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
        await self.sql.execute(
            f"INSERT INTO admission.user_sharedkeys ({', '.join(row)}) VALUES ({places})",  # noqa: S608 - own names
            *row.values(),
        )
        return str(row["id"])

    async def find(self, key: str) -> pb.FindAccountResponse:
        """Whose key this is. Raises Refusal."""
        find = self.neighbour.once(self.stub.FindAccount, deadline=_PATIENCE)
        return cast("pb.FindAccountResponse", await find(pb.FindAccountRequest(api_key=key)))

    async def worker(self, model: str = MODEL, owner: int | None = None, **columns: Any) -> UUID:
        """An online chat worker of `model`."""
        worker = uuid4()
        row = {
            "id": worker,
            "user_id": (await self.account("owner")).id if owner is None else owner,
            "name": f"worker-{worker}",
            "models": [model],
            "accepts_chat_jobs": True,
            "chat_model_id": model,
            "chat_features": ["prompt_overflow_refused"],
            "chat_max_context_length": 8192,
            "chat_max_length": 4096,
            "image_transports": [],
            "max_length": 512,
            "max_context_length": 8192,
            "speed": 100.0,
            **columns,
        }
        places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
        await self.sql.execute(
            f"INSERT INTO dispatch.workers ({', '.join(row)}) VALUES ({places})",  # noqa: S608 - a test's own names
            *row.values(),
        )
        return worker

    async def row(self, request_id: str) -> dict[str, Any]:
        """A request as it is queued."""
        found = await self.sql.fetchrow("SELECT * FROM dispatch.waiting_prompts WHERE id = $1", UUID(request_id))
        assert found is not None
        return dict(found)

    async def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(await self.sql.fetchval(f"SELECT count(*) FROM {table}"))  # noqa: S608 - a test's own name


def chat(text: str = "hello", **keys: Any) -> dict[str, Any]:
    """The smallest chat body, and more."""
    return {"model": MODEL, "messages": [{"role": "user", "content": text}], **keys}


def text(prompt: str = "Once upon a time", params: Any = None, **keys: Any) -> dict[str, Any]:
    """The smallest text body for our model, and more."""
    return {"prompt": prompt, "models": [MODEL], **({} if params is None else {"params": params}), **keys}


@asynccontextmanager
async def admission_world(database: Database, **settings: Any) -> AsyncIterator[AdmissionWorld]:
    """A running service; `settings` by field name."""
    async with AsyncExitStack() as stack:
        target, moderation, media = await stack.enter_async_context(serving_neighbours())
        given: dict[str, Any] = {
            "database_url": database.url_for("horde_admission"),
            "secret_key": SECRET,
            "moderation_target": target,
            "media_target": target,
            "text_model_reference": "/nowhere",
            **settings,
        }
        clock = FakeClock()
        deps = await stack.enter_async_context(opened(AdmissionSettings(**given), clock))
        deps.reference._current = REFERENCE
        await deps.policy.refresh()
        server = grpc.aio.server(options=options.SERVER)
        registrar = cast("grpc.aio.Server", Registrar(server, Surroundings("admission")))
        add_to(registrar, deps)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        stack.push_async_callback(server.stop, 0)
        neighbour = Neighbour(f"127.0.0.1:{port}", name="admission")
        stack.push_async_callback(neighbour.close)
        sql = await asyncpg.connect(database.url)
        stack.push_async_callback(sql.close)
        yield AdmissionWorld(
            stub=pb_grpc.AdmissionServiceStub(neighbour.channel),
            accounts=AccountsServiceStub(neighbour.channel),
            neighbour=neighbour,
            deps=deps,
            clock=clock,
            moderation=moderation,
            media=media,
            database=database,
            sql=sql,
            settings=given,
        )
