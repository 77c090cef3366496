"""One chat request whose story a test tells: what its workers post, and how it ends."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import account_details_pb2
from horde_pb.admission.v1 import admission_service_pb2 as admission
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import models_pb2, status_pb2
from horde_pb.progress.v1 import progress_service_pb2 as progress
from tests.fakes.gateway_services import Desk

CREATED = 1_790_000_000
WORKER = "11111111-1111-1111-1111-111111111111"
MODEL = "org/Test-7B"


@dataclass
class ToldRequest(Desk):
    """The services behind the gateway, for one request at a time. A new submit starts a new story."""

    request_id: str = ""
    status: status_pb2.RequestStatus = field(default_factory=status_pb2.RequestStatus)
    events: list[Message] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    # True: WatchRequest says nothing at all, as when Redis is away.
    is_deaf: bool = False

    def __post_init__(self) -> None:
        self.answers = {
            "AdmitChat": self._admit,
            "GetStatus": lambda _: dispatch.GetStatusResponse(status=self.status),
            "CancelRequest": self._cancel,
            "ListModels": dispatch.ListModelsResponse(models=[a_model()]),
            "GetAccount": self._account,
        }
        self._operation_key: str | None = None
        self.renew()

    def renew(self) -> None:
        """A new request that waits for one of four eligible threads."""
        self.request_id = str(uuid.uuid4())
        self.events.clear()
        self.status = status_pb2.RequestStatus(
            waiting=1,
            is_possible=True,
            eligible_workers=2,
            eligible_worker_threads=4,
            wait_time_seconds=3,
            created=Timestamp(seconds=CREATED),
        )

    def post(self, seq: int, content: str = "", reasoning: str = "", generation: str = "g1", **more: Any) -> None:
        """A worker's progress post."""
        worker = {"worker_id": WORKER, "model": MODEL, **more}
        self._tell(
            progress.WatchRequestResponse(
                delta=progress.Delta(
                    generation_id=generation, seq=seq, content=content, reasoning_content=reasoning, **worker
                )
            )
        )

    def end(self, generation: str = "g1") -> None:
        """The generation faulted."""
        self._tell(progress.WatchRequestResponse(ended=progress.Ended(generation_id=generation)))

    def store(self, content: str | None, *, signal: bool = True, generation: str = "g1", **more: Any) -> None:
        """The reply is stored. `tool_calls` and `reasoning_content` go into the message, the rest is as on the wire."""
        message: dict[str, Any] = {"role": "assistant", "content": content}
        for key in ("tool_calls", "reasoning_content"):
            if key in more:
                message[key] = more.pop(key)
        known: dict[str, Any] = {
            "id": generation,
            "worker_id": WORKER,
            "worker_name": "a worker",
            "model": MODEL,
            "state": "ok",
            "text": content or "",
            "message": orjson.dumps(message),
            "finish_reason": "stop",
            "charge_basis": "output_estimate",
            "queue_wait_seconds": 1.5,
        }
        self.status.waiting, self.status.finished, self.status.done = 0, 1, True
        self.status.kudos_hundredths = 1250
        del self.status.generations[:]
        self.status.generations.append(status_pb2.GenerationStatus(**{**known, **more}))
        if signal:
            self.signal("generation", generations=1)
            self.signal("done", generations=1)

    def fault(self, reason: str, rc: str) -> None:
        """The request faulted."""
        self.status.faulted, self.status.done = True, True
        self.status.fault_reason, self.status.fault_rc = reason, rc
        self.signal("faulted", fault_reason=reason, fault_rc=rc)

    def signal(self, event: str, **more: Any) -> None:
        """A message on the completion channel."""
        self._tell(progress.WatchRequestResponse(signal=progress.Signal(event=event, **more)))

    def submitted(self) -> dict[str, Any]:
        """The body of the last submit."""
        body: dict[str, Any] = orjson.loads(self.last("AdmitChat").body)
        return body

    def count(self, name: str) -> int:
        """How often an RPC was asked."""
        return sum(asked == name for asked, _ in self.asked)

    async def asked_for(self, name: str, times: int = 1) -> None:
        """Waits until an RPC was asked so often."""
        async with asyncio.timeout(30):
            while self.count(name) < times:
                self.was_asked.clear()
                await self.was_asked.wait()

    async def answer(self, name: str, request: Message) -> Message:
        """What was put on the desk for this RPC."""
        answering = super().answer(name, request)
        asyncio.get_running_loop().call_soon(self.was_asked.set)
        return await answering

    async def stream(self, name: str, request: Message) -> AsyncIterator[Message]:
        """The story from its start, then as it goes on."""
        self.asked.append((name, request))
        self.was_asked.set()
        if self.is_deaf:
            await asyncio.Event().wait()
        yield progress.WatchRequestResponse(subscribed=progress.Subscribed())
        told = 0
        while True:
            while told < len(self.events):
                yield self.events[told]
                told += 1
            self.changed.clear()
            await self.changed.wait()

    def _tell(self, event: Message) -> None:
        self.events.append(event)
        self.changed.set()

    def _admit(self, request: admission.AdmitChatRequest) -> Message:
        key = (orjson.loads(request.body).get("horde") or {}).get("operation_key")
        repeated = key is not None and key == self._operation_key
        self._operation_key = key
        if self.count("AdmitChat") > 1 and not repeated:
            self.renew()
        return admission.AdmitChatResponse(
            outcome=admission.ADMIT_OUTCOME_QUEUED,
            request_id=self.request_id,
            kudos=10,
            created=Timestamp(seconds=CREATED),
        )

    def _cancel(self, _: Message) -> Message:
        found = dispatch.CancelRequestResponse(status=self.status)
        self.status.cancelled = True
        return found

    def _account(self, request: account_details_pb2.GetAccountRequest) -> Message:
        if request.api_key.startswith("wrong"):
            raise Refusal(reasons.INVALID_API_KEY, "No user matching sent API Key.")
        return account_details_pb2.GetAccountResponse()


def a_model(name: str = MODEL) -> models_pb2.ModelStatus:
    """An entry of the chat model list."""
    offer = models_pb2.ChatOffer(
        workers=2, max_context_length=8192, max_length=2048, features=["tools", "seed"], created=CREATED
    )
    return models_pb2.ModelStatus(name=name, count=4, performance=31.5, queued=120, jobs=3, eta_seconds=9, chat=offer)
