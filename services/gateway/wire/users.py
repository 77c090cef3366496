"""Accounts as the public routes tell and change them: base-domain 2.10, 2.11."""

import re
from decimal import ROUND_HALF_UP, Decimal

import orjson

from horde.contract.nul import refuse_nul
from horde_pb.admission.v1 import account_details_pb2 as pb
from horde_pb.admission.v1 import accounts_service_pb2 as service_pb
from services.gateway.answers import Answer
from services.gateway.validation import invalid
from services.gateway.wire.fields import MAX_INT32, Fields
from services.gateway.wire.review import utc

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NUMBER = re.compile(r"[0-9]{1,10}")
_ACTIONS = ("accumulated", "gifted", "donated", "admin", "received", "recurring", "awarded", "styled")
_FLAGS = (
    "moderator",
    "trusted",
    "flagged",
    "customizer",
    "vpn",
    "service",
    "education",
    "special",
    "reset_suspicion",
    "public_workers",
    "generate_proxy_passkey",
    "undelete",
)
_MAX_DAYS = 366
_MOST_KUDOS = 10**12
"""Whole kudos of one change: more than there ever were, and far from what a column can hold."""


def account_number(text: str) -> int | None:
    """An account's number out of a path; None for what cannot be one."""
    number = int(text) if _NUMBER.fullmatch(text) else -1
    return number if 0 <= number <= MAX_INT32 else None


def list_request(query: dict[str, str]) -> service_pb.ListAccountsRequest:
    """The message that asks for a page. Raises Refusal(ValidationFailed)."""
    sort = query.get("sort") or "kudos"
    errors: dict[str, str] = {}
    if sort not in {"kudos", "age"}:
        errors["sort"] = "has to be one of kudos, age"
    page = account_number(query.get("page") or "1") or 0
    if page < 1:
        errors["page"] = "has to be a whole number from 1"
    if errors:
        raise invalid(errors)
    return service_pb.ListAccountsRequest(page=page, by_age=sort == "age")


def update_request(account: int, body: dict[str, object], api_key: str) -> pb.UpdateAccountRequest:
    """The message of a change. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    refuse_nul(body, "")
    fields = Fields(body)
    kudos = fields.number("kudos", least=-_MOST_KUDOS, most=_MOST_KUDOS)
    username, contact = fields.text("username", longest=100), fields.text("contact", longest=500)
    if username is not None and len(username.strip()) < 3:  # noqa: PLR2004 - base-domain 2.11
        fields.wrong("username", f"'{username}' is too short: at least 3 characters")
    if contact is not None and len(contact) < 5:  # noqa: PLR2004 - base-domain 2.11
        fields.wrong("contact", f"'{contact}' is too short: at least 5 characters")
    ask = pb.UpdateAccountRequest(
        api_key=api_key,
        account_id=account,
        kudos_hundredths=None if kudos is None else hundredths(kudos),
        monthly_kudos=fields.whole("monthly_kudos", least=-MAX_INT32, most=MAX_INT32),
        usage_multiplier=fields.number("usage_multiplier", least=0.1, most=10),
        concurrency=fields.whole("concurrency", least=0, most=500),
        worker_invited=fields.whole("worker_invited", least=0, most=MAX_INT32),
        admin_comment=fields.text("admin_comment", longest=5000),
        username=username,
        contact=contact,
        **{name: fields.flag(name) for name in _FLAGS},
    )
    fields.check()
    return ask


def usage_request(account: int, query: dict[str, str], api_key: str) -> service_pb.GetUsageRequest:
    """The message that asks what requests cost. Raises Refusal(ValidationFailed)."""
    errors: dict[str, str] = {}
    days = account_number(query.get("days") or "30") or 0
    if not 1 <= days <= _MAX_DAYS:
        errors["days"] = f"has to be a whole number from 1 to {_MAX_DAYS}"
    key = query.get("sharedkey", "")
    if key and _UUID.fullmatch(key) is None:
        errors["sharedkey"] = "has to be a UUID"
    if errors:
        raise invalid(errors)
    return service_pb.GetUsageRequest(api_key=api_key, account_id=account, days=days, shared_key=key)


def hundredths(kudos: float) -> int:
    """Kudos as they are counted, rounded half up."""
    return int((Decimal(repr(kudos)) * 100).quantize(Decimal(1), ROUND_HALF_UP))


def list_answer(page: service_pb.ListAccountsResponse) -> Answer:
    """A page of accounts."""
    return Answer(orjson.dumps([details(one) for one in page.accounts]))


def answer(found: pb.GetAccountResponse) -> Answer:
    """One account; through a shared key its owner's, with the key's name behind the alias."""
    value = details(found.account)
    if found.HasField("sharedkey_name"):
        value["username"] = f"{found.account.username} (Shared Key: {found.sharedkey_name})"
    return Answer(orjson.dumps(value))


def details(account: pb.AccountDetails) -> dict[str, object]:
    """What of an account was told to us; a value that is absent is left out, as upstream leaves out nulls."""
    value: dict[str, object] = {
        "username": account.username,
        "id": account.id,
        "kudos": whole_or_two(account.kudos_hundredths),
        "kudos_details": {name: whole_or_two(account.kudos_details.get(name, 0)) for name in _ACTIONS},
        "usage": {},
        "contributions": {},
        "records": _records(account),
        "concurrency": account.concurrency,
        "worker_invited": account.worker_invited,
        "moderator": account.moderator,
        "trusted": account.trusted,
        "flagged": account.flagged,
        "pseudonymous": account.pseudonymous,
        "worker_count": account.worker_count,
        "account_age": account.account_age_seconds,
        "service": account.service,
        "deleted": account.deleted,
        "education": account.education,
        "customizer": account.customizer,
        "styles": [],
    }
    if account.public_workers or account.HasField("own"):
        value["worker_ids"] = list(account.worker_ids)
    if account.HasField("own"):
        value |= _own(account)
    if account.HasField("file"):
        value |= _file(account.file)
    return value


def _records(account: pb.AccountDetails) -> dict[str, object]:
    known = account.records

    def things(kind: str) -> dict[str, float]:
        return {"megapixelsteps": 0, "tokens": round(known.get(f"{kind}.tokens", 0))}

    def amounts(kind: str) -> dict[str, int]:
        return {"image": 0, "text": round(known.get(f"{kind}.text", 0)), "interrogation": 0}

    return {
        "usage": things("usage"),
        "contribution": things("contribution"),
        "fulfillment": amounts("fulfillment"),
        "request": amounts("request"),
        "style": amounts("style"),
    }


def _own(account: pb.AccountDetails) -> dict[str, object]:
    own = account.own
    value: dict[str, object] = {"sharedkey_ids": list(own.sharedkey_ids), "vpn": own.vpn, "special": own.special}
    if own.HasField("contact"):
        value["contact"] = own.contact
    if not account.anonymous:
        value["active_generations"] = {"text": list(own.active_text_requests), "image": [], "alchemy": []}
    return value


def _file(kept: pb.ModeratorDetails) -> dict[str, object]:
    received = utc(kept.monthly_kudos_last_received) if kept.HasField("monthly_kudos_last_received") else None
    value: dict[str, object] = {
        "evaluating_kudos": whole_or_two(kept.evaluating_hundredths),
        "monthly_kudos": {"amount": kept.monthly_kudos, "last_received": received},
        "suspicious": kept.suspicious,
    }
    if kept.HasField("admin_comment"):
        value["admin_comment"] = kept.admin_comment
    if kept.HasField("proxy_passkey"):
        value["proxy_passkey"] = kept.proxy_passkey
    return value


def changed_answer(changed: pb.UpdateAccountResponse) -> Answer:
    """The changed values alone."""
    value = {field.name: told for field, told in changed.ListFields()}
    if "new_kudos_hundredths" in value:
        value["new_kudos"] = whole_or_two(value.pop("new_kudos_hundredths"))
    return Answer(orjson.dumps(value))


def usage_answer(account: int, days: int, told: service_pb.GetUsageResponse) -> Answer:
    """What requests cost, by day, model and key, and together."""
    total = {
        "requests": sum(one.requests for one in told.days),
        "generations": sum(one.generations for one in told.days),
        "tokens": sum(one.tokens for one in told.days),
        "kudos": whole_or_two(sum(one.kudos_hundredths for one in told.days)),
    }
    usage = [
        {
            "day": one.day,
            "model": one.model or None,
            "sharedkey": one.shared_key if one.HasField("shared_key") else None,
            "requests": one.requests,
            "generations": one.generations,
            "tokens": one.tokens,
            "kudos": whole_or_two(one.kudos_hundredths),
        }
        for one in told.days
    ]
    return Answer(orjson.dumps({"user_id": account, "days": days, "usage": usage, "total": total}))


def test_account_request(body: dict[str, object]) -> service_pb.MakeTestAccountRequest:
    """The message that makes a test's account. Raises Refusal(ValidationFailed, NulByteInPayload)."""
    refuse_nul(body, "")
    fields = Fields(body)
    kudos = fields.number("kudos", least=0, most=_MOST_KUDOS)
    moderator, trusted = fields.flag("moderator"), fields.flag("trusted")
    username, oauth_id = fields.text("username", longest=30), fields.text("oauth_id", longest=50)
    fields.check()
    return service_pb.MakeTestAccountRequest(
        username=username or "test_user",
        oauth_id=oauth_id or "ci_test_user",
        moderator=True if moderator is None else moderator,
        trusted=True if trusted is None else trusted,
        kudos_hundredths=hundredths(10_000.0 if kudos is None else kudos),
    )


def test_account_answer(made: service_pb.MakeTestAccountResponse) -> Answer:
    """The account and its new key: 201 when it is new."""
    account = made.account
    value = {
        "api_key": made.api_key,
        "user_id": account.id,
        "username": account.username.rpartition("#")[0],
        "alias": account.username,
        "kudos": whole_or_two(account.kudos_hundredths),
        "trusted": account.trusted,
        "moderator": account.moderator,
        "created": made.created,
    }
    return Answer(orjson.dumps(value), 201 if made.created else 200)


def whole_or_two(amount: int) -> float:
    """Hundredths as a number with at most two decimals."""
    kudos = amount / 100
    return int(kudos) if kudos.is_integer() else kudos
