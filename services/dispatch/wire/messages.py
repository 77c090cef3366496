"""The messages for workers between proto and the rules' words."""

from collections.abc import Mapping, Sequence

from google.protobuf.timestamp_pb2 import Timestamp

from horde_pb.dispatch.v1 import worker_messages_pb2 as pb
from horde_pb.dispatch.v1 import workers_pb2
from services.dispatch.rules.messages import Message, MessageAsk, MessageQuery, Validity

_VALIDITY: Mapping[int, Validity] = {
    pb.MESSAGE_VALIDITY_EXPIRED: "expired",
    pb.MESSAGE_VALIDITY_ALL: "all",
}
"""Any other is `active`."""


def query(request: pb.ListWorkerMessagesRequest) -> MessageQuery:
    """Which messages are wanted."""
    return MessageQuery(
        author_id=request.user_id if request.HasField("user_id") else None,
        worker_id=request.worker_id if request.HasField("worker_id") else None,
        validity=_VALIDITY.get(request.validity, "active"),
        page=max(request.page, 1),
    )


def ask(request: pb.CreateWorkerMessageRequest) -> MessageAsk:
    """What is to be told."""
    return MessageAsk(
        worker_id=request.worker_id if request.HasField("worker_id") else None,
        text=request.message,
        origin=request.origin if request.HasField("origin") else None,
        expiry_hours=request.expiry_hours,
    )


def told(messages: Sequence[Message]) -> list[workers_pb2.WorkerMessage]:
    """Messages, in their order."""
    return [one(message) for message in messages]


def one(message: Message) -> workers_pb2.WorkerMessage:
    """One message."""
    expiry = Timestamp()
    expiry.FromDatetime(message.expiry)
    return workers_pb2.WorkerMessage(
        id=str(message.id),
        message=message.text,
        origin=message.origin,
        expiry=expiry,
        worker_id=None if message.worker_id is None else str(message.worker_id),
    )
