"""A worker's progress post: the chat reference, Streaming progress."""

import orjson

from horde_pb.progress.v1.progress_service_pb2 import AppendProgressRequest, AppendProgressResponse
from services.gateway.answers import Answer
from services.gateway.wire.fields import Fields


def read(body: dict[str, object], api_key: str) -> AppendProgressRequest:
    """The message of a post. Raises Refusal(ValidationFailed)."""
    fields = Fields(body)
    fields.require("id", "seq", "delta")
    generation_id = fields.text("id") or ""
    seq = fields.whole("seq") or 0
    delta = fields.nested("delta") or Fields({})
    content = delta.text("content") or ""
    reasoning = delta.text("reasoning_content") or ""
    fields.check()
    return AppendProgressRequest(
        api_key=api_key, generation_id=generation_id, seq=seq, content=content, reasoning_content=reasoning
    )


def answer(accepted: AppendProgressResponse) -> Answer:
    """What was accepted, and whether to go on."""
    return Answer(orjson.dumps({"accepted_seq": accepted.accepted_seq, "cancelled": accepted.cancelled}))
