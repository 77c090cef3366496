"""A real dispatch service in this process, on a real Postgres, seen by workers that pop; its neighbours are fakes."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import asyncpg
import grpc
import orjson

from horde.contract.models import ModelReference
from horde.contract.refusal import Refusal
from horde.contract.vocabulary import chat_declaration as sdk
from horde.rpc.client import Neighbour
from horde.rpc.handling import Registrar, Surroundings
from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import models_pb2, workers_pb2
from horde_pb.dispatch.v1.dispatch_service_pb2_grpc import DispatchServiceStub
from horde_pb.media.v1.media_service_pb2_grpc import add_MediaServiceServicer_to_server
from horde_pb.moderation.v1.moderation_service_pb2_grpc import add_ModerationServiceServicer_to_server
from horde_pb.progress.v1.progress_service_pb2_grpc import add_ProgressServiceServicer_to_server
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from services.dispatch.__main__ import dependencies
from services.dispatch.deps import Deps
from services.dispatch.servicer import add_to
from services.dispatch.settings import DispatchSettings
from tests.fakes.dispatch_world import MODEL, SECRET, Account, World
from tests.fakes.media import FakeMedia
from tests.fakes.moderation import FakeModeration
from tests.fakes.progress import FakeProgress
from tests.servers import Database

ALL_FEATURES = (
    "seed",
    "reasoning_effort",
    "presence_penalty",
    "frequency_penalty",
    "vision",
    "tools",
    "json_object",
    "json_schema",
    "tools_with_response_format",
    "tool_choice_enforced",
    "single_tool_call_enforced",
    "structured_output_enforced",
    "prompt_overflow_refused",
)

_DEADLINE = timedelta(seconds=30)


class KnownModels:
    """A model reference with one model of a billion parameters."""

    current = ModelReference({MODEL: {"parameters": 1_000_000_000}})


@dataclass(frozen=True)
class Pops:
    """The service as workers see it, and what stands around it. A refused call raises its Refusal."""

    deps: Deps
    world: World
    progress: FakeProgress
    media: FakeMedia
    moderation: FakeModeration
    caller: Neighbour
    stub: DispatchServiceStub

    async def pop(self, owner: Account, name: str = "worker", /, **fields: Any) -> pb.ClaimJobsResponse:
        """A pop of a worker that serves everything there is; `fields` change its declaration."""
        call = self.caller.once(self.stub.ClaimJobs, deadline=_DEADLINE)
        return read_by_a_worker(await call(pop_request(owner, name, **fields)))

    async def refused(self, owner: Account, name: str = "worker", /, **fields: Any) -> Refusal:
        """The refusal of a pop that must be refused."""
        try:
            answer = await self.pop(owner, name, **fields)
        except Refusal as refusal:
            return refusal
        raise AssertionError(f"not refused: {answer}")

    async def models(self, *, chat: bool = False) -> dict[str, models_pb2.ModelStatus]:
        """The model list, by name."""
        call = self.caller.once(self.stub.ListModels, deadline=_DEADLINE)
        return {model.name: model for model in (await call(pb.ListModelsRequest(chat=chat))).models}

    async def performance(self) -> pb.GetPerformanceResponse:
        """The horde in numbers."""
        return await self.caller.once(self.stub.GetPerformance, deadline=_DEADLINE)(pb.GetPerformanceRequest())


def pop_request(owner: Account, name: str = "worker", /, **fields: Any) -> pb.ClaimJobsRequest:
    """A pop that declares everything, changed by `fields`; `chat` None: a plain text worker."""
    wanted = {
        "models": [MODEL],
        "bridge_agent": "KoboldCppEmbedWorker:2:url",
        "max_length": 1024,
        "max_context_length": 4096,
        "nsfw": True,
        "chat": chat_declaration(),
        "address": "203.0.113.7",
        **fields,
    }
    caller = Caller(api_key=owner.api_key, remote_address=wanted.pop("address"))
    given = {key: value for key, value in wanted.items() if value is not None}
    return pb.ClaimJobsRequest(caller=caller, name=name, **given)


def chat_declaration(**fields: Any) -> workers_pb2.ChatDeclaration:
    """A chat declaration of everything, changed by `fields`; None leaves a field out."""
    wanted = {
        "chat_jobs": True,
        "chat_features": ALL_FEATURES,
        "chat_limits": workers_pb2.ChatLimits(max_context_length=4096, max_length=1024),
        "model_id": MODEL,
        "image_transports": ["url"],
        **fields,
    }
    return workers_pb2.ChatDeclaration(**{key: value for key, value in wanted.items() if value is not None})


def read_by_a_worker(answer: pb.ClaimJobsResponse) -> pb.ClaimJobsResponse:
    """The answer itself, once a worker that is built on horde-sdk could read its chat job."""
    if answer.chat:
        job = job_of(answer)
        if "messages_url" in job["payload"]:  # what it would have fetched from there
            job["payload"]["messages"] = [{"role": "user", "content": "fetched"}]
        sdk.ChatJobPayload.from_pop(job)
    return answer


def job_of(answer: pb.ClaimJobsResponse) -> dict[str, Any]:
    """The pop's answer as the public route gives it to a worker, as far as a worker reads it."""
    ids = list(answer.generation_ids)
    return {
        "id": ids[0],
        "ids": ids,
        "model": answer.model,
        "ttl": answer.ttl_seconds,
        "chat": answer.chat,
        "payload": orjson.loads(answer.payload),
    }


@asynccontextmanager
async def popping(database: Database, **settings: Any) -> AsyncIterator[Pops]:
    """A dispatch service of one test; `settings` change the defaults."""
    progress, media, moderation = FakeProgress.new(), FakeMedia.new(), FakeModeration.new()
    async with AsyncExitStack() as stack:
        server = grpc.aio.server()
        here = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        add_ProgressServiceServicer_to_server(progress, server)
        add_MediaServiceServicer_to_server(media, server)
        add_ModerationServiceServicer_to_server(moderation, server)
        wanted = {
            "database_url": database.url_for("horde_dispatch"),
            "secret_key": SECRET,
            "progress_target": here,
            "media_target": here,
            "moderation_target": here,
            **settings,
        }
        deps = await stack.enter_async_context(dependencies(DispatchSettings(**wanted), KnownModels()))
        registrar = cast("grpc.aio.Server", Registrar(server, Surroundings("dispatch")))
        add_to(registrar, deps)
        await server.start()
        stack.push_async_callback(server.stop, 0)
        caller = Neighbour(here, name="dispatch")
        stack.push_async_callback(caller.close)
        connection = await asyncpg.connect(database.url)
        stack.push_async_callback(connection.close)
        stub = DispatchServiceStub(caller.channel)
        yield Pops(deps, World(connection), progress, media, moderation, caller, stub)
