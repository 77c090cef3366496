"""The request as dispatch queues it: the columns of `dispatch.accept_inactive_v1` and `dispatch.accept_v2`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from horde.contract.chat.images import count_images, image_key, with_stored_images
from horde.contract.chat.request import ChatRequest
from horde.contract.chat.requirements import STREAM_KEY, chat_extras, required_features, tools_temperature
from services.admission.rules.entry import worker_id
from services.admission.rules.offload import may_offload
from services.admission.rules.sizing import Sized


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a request comes from."""

    account_id: int
    sharedkey_id: UUID | None
    address: str
    client_agent: str
    traceparent: str | None
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """What is stored. `columns` are JSON values; a text request has no messages."""

    id: UUID
    created: datetime
    columns: Mapping[str, Any]
    prompt: str
    submitted_prompt: str
    # compact JSON
    messages: bytes | None = None
    image_keys: Sequence[str] = ()
    # its messages may become an object of their own
    may_offload: bool = False

    @property
    def has_objects(self) -> bool:
        """Whether objects may be stored for it before it is activated."""
        return bool(self.image_keys) or self.may_offload


def matched_columns(request: ChatRequest, sized: Sized, *, min_speed: float, account_id: int) -> dict[str, Any]:
    """What workers are matched on: all that measuring the availability needs."""
    workers = [worker_id(worker) for worker in request.workers]
    return {
        "is_chat": True,
        "user_id": account_id,
        "models": list(request.models),
        "max_length": sized.max_length,
        "max_context_length": sized.max_context_length,
        "trusted_workers": request.horde.trusted_workers,
        "validated_backends": request.horde.validated_backends,
        "slow_workers": request.horde.slow_workers,
        "min_speed": min_speed,
        "workers": [str(worker) for worker in workers if worker is not None],
        "worker_blacklist": request.horde.ignore is not None,
        "has_images": count_images(sized.messages) > 0,
        "chat_required_features": required_features(request, sized.messages),
        "chat_tools_temperature": tools_temperature(request),
    }


def stored_params(request: ChatRequest, sized: Sized) -> dict[str, Any]:
    """The mapped text params: the sampling values that were sent, and both lengths."""
    return {
        **request.sampling,
        "max_length": sized.max_length,
        "max_context_length": sized.max_context_length,
    }


def build(  # noqa: PLR0913 - a row is what all earlier steps found out
    request: ChatRequest,
    sized: Sized,
    matched: Mapping[str, Any],
    origin: Origin,
    *,
    id: UUID,  # noqa: A002 - the column's name
    created: datetime,
    lifetime: timedelta,
    quote: int,
    submitted_prompt: str,
    offload_bytes: int | None,
) -> Row:
    """Every column that is not at its default. `quote` in hundredths; `offload_bytes` None: nothing is offloaded."""
    image_keys = [image_key(str(id), position) for position in range(count_images(sized.messages))]
    messages = orjson.dumps(with_stored_images(sized.messages, str(id)))
    offloads = may_offload(messages, len(image_keys), threshold=offload_bytes)
    extras = chat_extras(request) | ({STREAM_KEY: True} if request.stream else {})
    params = stored_params(request, sized)
    optional = {
        "sharedkey_id": None if origin.sharedkey_id is None else str(origin.sharedkey_id),
        "chat_extras": extras or None,
        "context_adjustments": list(sized.adjustments) or None,
        "traceparent": origin.traceparent,
        "operation_key": None if request.horde.operation_key is None else str(request.horde.operation_key),
        "operation_fingerprint": origin.fingerprint,
        "chat_messages_offloaded": offloads or None,
    }
    columns = {
        **matched,
        "id": str(id),
        "created": created.isoformat(),
        "expiry": (created + lifetime).isoformat(),
        "jobs": 1,
        "kudos": quote,
        "params": params,
        "gen_payload": params,
        "chat_conformance": request.horde.conformance,
        "client_agent": origin.client_agent,
        "ipaddr": origin.address,
        "image_keys": image_keys,
        **{name: value for name, value in optional.items() if value is not None},
    }
    return Row(id, created, columns, sized.prompt, submitted_prompt, messages, image_keys, offloads)
