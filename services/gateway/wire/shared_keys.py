"""Shared keys and gifts of kudos, as the public routes take and tell them: base-domain 2.4, 2.8."""

from email.utils import format_datetime

import orjson

from horde.contract.nul import refuse_nul
from horde_pb.admission.v1 import accounts_service_pb2 as service_pb
from horde_pb.admission.v1 import shared_keys_pb2 as pb
from services.gateway.answers import Answer
from services.gateway.validation import invalid
from services.gateway.wire.fields import Fields
from services.gateway.wire.users import hundredths, whole_or_two

_MOST_KUDOS = 50_000_000
_MOST_DAYS = 36_500
_MOST_PIXELS, _MOST_STEPS, _MOST_TOKENS = 4_194_304, 500, 500
_SHORTEST_NAME, _LONGEST_NAME = 3, 255
"""base-domain 2.4; -1 is unlimited everywhere. The days reach as far as a date does."""

_MOST_MOVED = 10**12
_LONGEST_RETRY_KEY = 255

DELETED = Answer(b'{"message":"OK"}')


def create_request(body: dict[str, object], api_key: str) -> pb.CreateSharedKeyRequest:
    """The message of a new key. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    return pb.CreateSharedKeyRequest(api_key=api_key, key=_change(body))


def update_request(key_id: str, body: dict[str, object], api_key: str) -> pb.UpdateSharedKeyRequest:
    """The message of a change. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    return pb.UpdateSharedKeyRequest(api_key=api_key, id=key_id, change=_change(body))


def _change(body: dict[str, object]) -> pb.SharedKeyChange:
    refuse_nul(body, "")
    fields = Fields(body)
    name = fields.text("name", longest=_LONGEST_NAME)
    if name is not None and len(name) < _SHORTEST_NAME:
        fields.wrong("name", f"'{name}' is too short: at least {_SHORTEST_NAME} characters")
    kudos = fields.whole("kudos", least=-1, most=_MOST_KUDOS)
    change = pb.SharedKeyChange(
        kudos_hundredths=None if kudos is None else kudos * 100,
        expiry_days=fields.whole("expiry", least=-1, most=_MOST_DAYS),
        name=name,
        max_image_pixels=fields.whole("max_image_pixels", least=-1, most=_MOST_PIXELS),
        max_image_steps=fields.whole("max_image_steps", least=-1, most=_MOST_STEPS),
        max_text_tokens=fields.whole("max_text_tokens", least=-1, most=_MOST_TOKENS),
    )
    fields.check()
    return change


def answer(key: pb.SharedKeyDetails) -> Answer:
    """One key; a value that is absent is left out. Whole kudos: clients read integers."""
    value: dict[str, object] = {
        "id": key.id,
        "username": key.username,
        "kudos": _whole(key.kudos_hundredths),
        "utilized": _whole(key.utilized_hundredths),
        "max_image_pixels": key.max_image_pixels,
        "max_image_steps": key.max_image_steps,
        "max_text_tokens": key.max_text_tokens,
    }
    if key.HasField("name"):
        value["name"] = key.name
    if key.HasField("expiry"):
        value["expiry"] = format_datetime(key.expiry.ToDatetime())
    if key.HasField("active_text"):
        load = key.active_text
        value["active_usage"] = {
            "text": {
                "requests": load.requests,
                "queued": load.queued,
                "processing": load.processing,
                "finished": load.finished,
                "oldest_queued_age": load.oldest_queued_age_seconds,
            },
            "image": {"requests": 0, "queued": 0, "processing": 0, "finished": 0, "oldest_queued_age": 0},
        }
    return Answer(orjson.dumps(value))


def _whole(amount: int) -> int:
    return (amount + 50) // 100


def transfer_request(body: dict[str, object], api_key: str, retry_key: str | None) -> service_pb.TransferKudosRequest:
    """The message of a gift. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    target, amount = _gift(body)
    if retry_key is not None and not 1 <= len(retry_key) <= _LONGEST_RETRY_KEY:
        raise invalid({"Idempotency-Key": f"has to have 1 to {_LONGEST_RETRY_KEY} characters"})
    return service_pb.TransferKudosRequest(
        api_key=api_key, target=target, amount_hundredths=amount, retry_key=retry_key or ""
    )


def award_request(body: dict[str, object], api_key: str) -> service_pb.AwardKudosRequest:
    """The message of an award. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    target, amount = _gift(body)
    return service_pb.AwardKudosRequest(api_key=api_key, target=target, amount_hundredths=amount)


def _gift(body: dict[str, object]) -> tuple[str, int]:
    refuse_nul(body, "")
    fields = Fields(body)
    fields.require("username")
    target = fields.text("username", longest=_LONGEST_NAME)
    amount = fields.number("amount", least=-_MOST_MOVED, most=_MOST_MOVED)
    fields.check()
    return target or "", hundredths(100.0 if amount is None else amount)


def transferred(moved: service_pb.TransferKudosResponse) -> Answer:
    """What was given."""
    return Answer(orjson.dumps({"transferred": whole_or_two(moved.transferred_hundredths)}))


def awarded(given: service_pb.AwardKudosResponse) -> Answer:
    """What was awarded."""
    return Answer(orjson.dumps({"awarded": whole_or_two(given.awarded_hundredths)}))
