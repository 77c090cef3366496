"""The routes of accounts, shared keys and gifts: what is asked of admission, and how its answers are told."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import account_details_pb2 as pb
from horde_pb.admission.v1 import accounts_service_pb2 as service_pb
from horde_pb.admission.v1 import shared_keys_pb2 as keys_pb
from horde_pb.moderation.v1.retention_policy_pb2 import GetRetentionPolicyResponse
from tests.fakes.running_gateway import Gateway, running

KEY = {"apikey": "a" * 22}
API = "/api/v2"
ACCOUNT = pb.AccountDetails(
    id=31,
    username="a#31",
    kudos_hundredths=1250,
    kudos_details={"gifted": -500, "accumulated": 250},
    records={"usage.tokens": 80.0, "request.text": 2.0},
    concurrency=30,
    worker_count=1,
    account_age_seconds=60,
    worker_ids=["w"],
)
PUBLIC = {
    "username": "a#31",
    "id": 31,
    "kudos": 12.5,
    "kudos_details": {
        "accumulated": 2.5,
        "gifted": -5,
        "donated": 0,
        "admin": 0,
        "received": 0,
        "recurring": 0,
        "awarded": 0,
        "styled": 0,
    },
    "usage": {},
    "contributions": {},
    "records": {
        "usage": {"megapixelsteps": 0, "tokens": 80},
        "contribution": {"megapixelsteps": 0, "tokens": 0},
        "fulfillment": {"image": 0, "text": 0, "interrogation": 0},
        "request": {"image": 0, "text": 2, "interrogation": 0},
        "style": {"image": 0, "text": 0, "interrogation": 0},
    },
    "concurrency": 30,
    "worker_invited": 0,
    "moderator": False,
    "trusted": False,
    "flagged": False,
    "pseudonymous": False,
    "worker_count": 1,
    "account_age": 60,
    "service": False,
    "deleted": False,
    "education": False,
    "customizer": False,
    "styles": [],
}


async def test_public_details_have_exactly_these_keys(gateway: Gateway) -> None:
    gateway.desk.answers["GetAccount"] = pb.GetAccountResponse(account=ACCOUNT)
    assert (await gateway.client.get(f"{API}/users/31")).json() == PUBLIC
    asked = gateway.desk.last("GetAccount")
    assert (asked.account_id, asked.api_key) == (31, "")
    for unknown in ("a", "-1", "99999999999", "1.0"):
        answer = await gateway.client.get(f"{API}/users/{unknown}")
        assert (answer.status_code, answer.json()["rc"]) == (404, "UserNotFound")
        assert answer.json()["message"]


@pytest.mark.parametrize("path", ["users/31", "users/31/usage", "sharedkeys/k", "find_user"])
async def test_no_cache_on_the_way_keeps_what_a_key_shows(gateway: Gateway, path: str) -> None:
    answer = await gateway.client.get(f"{API}/{path}", headers=KEY)
    assert answer.headers["cache-control"] == "private, no-store"


async def test_holders_and_moderators_see_more(gateway: Gateway) -> None:
    own = pb.PrivateDetails(sharedkey_ids=["k"], contact="me", active_text_requests=["r"])
    received = Timestamp(seconds=1_790_000_000)
    kept = pb.ModeratorDetails(
        evaluating_hundredths=150,
        monthly_kudos=10,
        monthly_kudos_last_received=received,
        suspicious=2,
        admin_comment="hm",
    )
    full = pb.AccountDetails(own=own, file=kept)
    full.MergeFrom(ACCOUNT)
    gateway.desk.answers["GetAccount"] = pb.GetAccountResponse(account=full)
    told = (await gateway.client.get(f"{API}/users/31", headers=KEY)).json()
    assert {name: value for name, value in told.items() if name not in PUBLIC} == {
        "worker_ids": ["w"],
        "sharedkey_ids": ["k"],
        "vpn": False,
        "special": False,
        "contact": "me",
        "active_generations": {"text": ["r"], "image": [], "alchemy": []},
        "evaluating_kudos": 1.5,
        "monthly_kudos": {"amount": 10, "last_received": "2026-09-21T14:13:20+00:00"},
        "suspicious": 2,
        "admin_comment": "hm",
    }


async def test_find_user_wants_a_key_and_names_the_shared_one(gateway: Gateway) -> None:
    gateway.desk.answers["GetAccount"] = pb.GetAccountResponse(account=ACCOUNT, sharedkey_name="friends")
    assert (await gateway.client.get(f"{API}/find_user")).status_code == 400
    told = (await gateway.client.get(f"{API}/find_user", headers=KEY)).json()
    assert told["username"] == "a#31 (Shared Key: friends)"
    assert not gateway.desk.last("GetAccount").HasField("account_id")


async def test_the_list_is_paged_and_sorted(gateway: Gateway) -> None:
    gateway.desk.answers["ListAccounts"] = service_pb.ListAccountsResponse(accounts=[ACCOUNT])
    assert (await gateway.client.get(f"{API}/users")).json() == [PUBLIC]
    assert (gateway.desk.last("ListAccounts").page, gateway.desk.last("ListAccounts").by_age) == (1, False)
    await gateway.client.get(f"{API}/users?page=3&sort=age")
    assert (gateway.desk.last("ListAccounts").page, gateway.desk.last("ListAccounts").by_age) == (3, True)
    wrong = await gateway.client.get(f"{API}/users?page=0&sort=name")
    assert (wrong.status_code, wrong.json()["errors"].keys()) == (400, {"page", "sort"})


async def test_a_change_is_checked_before_the_key_is_missed(gateway: Gateway) -> None:
    gateway.desk.answers["UpdateAccount"] = pb.UpdateAccountResponse(
        new_kudos_hundredths=250, trusted=False, new_suspicion=0
    )
    body = {"kudos": 1.005, "trusted": False, "reset_suspicion": True, "unknown": 1}
    answer = await gateway.client.put(f"{API}/users/31", json=body, headers=KEY)
    assert answer.json() == {"new_kudos": 2.5, "trusted": False, "new_suspicion": 0}
    asked = gateway.desk.last("UpdateAccount")
    assert (asked.kudos_hundredths, asked.HasField("trusted"), asked.trusted) == (101, True, False)
    assert not asked.HasField("flagged")
    wrong = {"username": "ab", "contact": "x", "usage_multiplier": 11, "concurrency": 501, "vpn": "yes"}
    answer = await gateway.client.put(f"{API}/users/31", json=wrong)
    assert (answer.status_code, answer.json()["errors"].keys()) == (400, wrong.keys())
    assert (await gateway.client.put(f"{API}/users/31", json={})).json()["errors"].keys() == {"apikey"}
    nul = await gateway.client.put(f"{API}/users/31", json={"contact": "abc\0de"}, headers=KEY)
    assert (nul.status_code, nul.json()["rc"]) == (400, "NulByteInPayload")


async def test_an_account_is_deleted_in_two_steps(gateway: Gateway) -> None:
    gateway.desk.answers["DeleteAccount"] = pb.DeleteAccountResponse()
    marked = await gateway.client.delete(f"{API}/users/31", headers=KEY)
    gateway.desk.answers["DeleteAccount"] = pb.DeleteAccountResponse(wiped=True)
    gone = await gateway.client.delete(f"{API}/users/31", headers=KEY)
    assert marked.status_code == gone.status_code == 200
    assert marked.json()["message"] != gone.json()["message"]
    for reason, status in (
        (reasons.NOT_USER_OR_MOD, 403),
        (reasons.USER_NOT_FOUND, 404),
        (reasons.CANNOT_WIPE_ACTIVE_USER, 403),
    ):
        gateway.desk.answers["DeleteAccount"] = Refusal(reason, "No.")
        answer = await gateway.client.delete(f"{API}/users/31", headers=KEY)
        assert (answer.status_code, answer.json()) == (status, {"message": "No.", "rc": reason.word})


async def test_usage_is_told_by_day_and_together(gateway: Gateway) -> None:
    days = [
        service_pb.UsageOfDay(
            day="2026-11-30", model="m", requests=2, generations=3, tokens=240, kudos_hundredths=1250
        ),
        service_pb.UsageOfDay(day="2026-11-29", shared_key="k", requests=1, kudos_hundredths=50),
    ]
    gateway.desk.answers["GetUsage"] = service_pb.GetUsageResponse(days=days)
    told = (await gateway.client.get(f"{API}/users/31/usage?days=7", headers=KEY)).json()
    assert told["usage"][0] == {
        "day": "2026-11-30",
        "model": "m",
        "sharedkey": None,
        "requests": 2,
        "generations": 3,
        "tokens": 240,
        "kudos": 12.5,
    }
    assert (told["usage"][1]["model"], told["usage"][1]["sharedkey"]) == (None, "k")
    assert told["total"] == {"requests": 3, "generations": 3, "tokens": 240, "kudos": 13}
    assert gateway.desk.last("GetUsage").days == 7
    for days_given in ("0", "367", "x"):
        answer = await gateway.client.get(f"{API}/users/31/usage?days={days_given}", headers=KEY)
        assert answer.json()["errors"].keys() == {"days"}
    answer = await gateway.client.get(f"{API}/users/31/usage?sharedkey=friends", headers=KEY)
    assert answer.json()["errors"].keys() == {"sharedkey"}


async def test_shared_keys_are_told_in_whole_kudos_without_nulls(gateway: Gateway) -> None:
    expiry = Timestamp()
    expiry.FromDatetime(datetime(2026, 12, 1, 12, tzinfo=UTC))
    key = keys_pb.SharedKeyDetails(
        id="k", username="a#31", kudos_hundredths=-100, utilized_hundredths=1250, max_text_tokens=-1
    )
    gateway.desk.answers["GetSharedKey"] = keys_pb.GetSharedKeyResponse(key=key)
    told = (await gateway.client.get(f"{API}/sharedkeys/k")).json()
    limits = {"max_image_pixels": 0, "max_image_steps": 0, "max_text_tokens": -1}
    assert told == {"id": "k", "username": "a#31", "kudos": -1, "utilized": 13, **limits}
    key.name = "mine"
    key.expiry.CopyFrom(expiry)
    gateway.desk.answers["CreateSharedKey"] = keys_pb.CreateSharedKeyResponse(key=key)
    body = {"kudos": -1, "expiry": 3, "name": "mine", "max_text_tokens": 500}
    told = (await gateway.client.put(f"{API}/sharedkeys", json=body, headers=KEY)).json()
    assert (told["name"], told["expiry"]) == ("mine", "Tue, 01 Dec 2026 12:00:00 -0000")
    asked = gateway.desk.last("CreateSharedKey").key
    assert (asked.kudos_hundredths, asked.expiry_days, asked.HasField("max_image_steps")) == (-100, 3, False)
    wrong = {"kudos": 50_000_001, "expiry": -2, "name": "ab", "max_text_tokens": 501}
    answer = await gateway.client.patch(f"{API}/sharedkeys/k", json=wrong, headers=KEY)
    assert answer.json()["errors"].keys() == wrong.keys()
    gateway.desk.answers["DeleteSharedKey"] = keys_pb.DeleteSharedKeyResponse()
    assert (await gateway.client.delete(f"{API}/sharedkeys/k", headers=KEY)).json() == {"message": "OK"}


async def test_a_gift_carries_its_retry_key_and_refusals_are_400(gateway: Gateway) -> None:
    gateway.desk.answers["TransferKudos"] = service_pb.TransferKudosResponse(transferred_hundredths=10_000)
    headers = {**KEY, "Idempotency-Key": "one"}
    answer = await gateway.client.post(f"{API}/kudos/transfer", json={"username": "b#2"}, headers=headers)
    assert answer.json() == {"transferred": 100}
    asked = gateway.desk.last("TransferKudos")
    assert (asked.target, asked.amount_hundredths, asked.retry_key) == ("b#2", 10_000, "one")
    for reason, rc in (
        (reasons.DELETED_USER_IN_TRANSFER, "DeletedUser"),
        (reasons.SHARED_KEY_EXPIRED_IN_TRANSFER, "SharedKeyExpired"),
        (reasons.KUDOS_TRANSFER_NOT_ENOUGH, "KudosTransferNotEnough"),
    ):
        gateway.desk.answers["TransferKudos"] = Refusal(reason, "No.")
        answer = await gateway.client.post(f"{API}/kudos/transfer", json={"username": "b#2", "amount": 1}, headers=KEY)
        assert (answer.status_code, answer.json()["rc"]) == (400, rc)
    answer = await gateway.client.post(f"{API}/kudos/transfer", json={"amount": "x"}, headers=KEY)
    assert answer.json()["errors"].keys() == {"username", "amount"}


async def test_an_account_for_tests_only_where_it_is_switched_on_and_from_this_machine() -> None:
    made = service_pb.MakeTestAccountResponse(api_key="key", account=ACCOUNT, created=True)
    path = f"{API}/dev/test-user"
    async with running() as off:
        assert (await off.client.post(path, json={})).status_code == 404
    async with running(test_api_keys=True, proxy_trusted_hops=1) as gateway:
        gateway.desk.answers["MakeTestAccount"] = made
        answer = await gateway.client.post(path, headers={"x-forwarded-for": "203.0.113.9"})
        assert answer.status_code == 201
        assert answer.json() == {
            "api_key": "key",
            "user_id": 31,
            "username": "a",
            "alias": "a#31",
            "kudos": 12.5,
            "trusted": False,
            "moderator": False,
            "created": True,
        }
        asked = gateway.desk.last("MakeTestAccount")
        assert (asked.username, asked.oauth_id, asked.moderator, asked.trusted) == (
            "test_user",
            "ci_test_user",
            True,
            True,
        )
        assert asked.kudos_hundredths == 1_000_000
        made.created = False
        assert (await gateway.client.post(path, json={"moderator": False})).status_code == 200
        assert not gateway.desk.last("MakeTestAccount").moderator


@pytest.mark.parametrize("name", ["terms", "sponsors"])
async def test_documents_are_told_in_either_form(gateway: Gateway, name: str) -> None:
    told = (await gateway.client.get(f"{API}/documents/{name}")).json()
    assert set(told) == {"html"}
    assert told["html"].startswith("<h1>")
    told = (await gateway.client.get(f"{API}/documents/{name}?format=markdown")).json()
    assert told["markdown"].startswith("# ")
    wrong = await gateway.client.get(f"{API}/documents/{name}?format=pdf")
    assert (wrong.status_code, wrong.json()["rc"]) == (400, "BadRequest")


async def test_documents_are_pages_too(gateway: Gateway) -> None:
    gateway.desk.answers["GetRetentionPolicy"] = GetRetentionPolicyResponse(ceiling_days=10)
    for name, title in (("privacy", "Privacy policy"), ("terms", "Terms of service"), ("sponsors", "Sponsors")):
        page = await gateway.client.get(f"/{name}")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert f"<h1>{title} of chat-horde</h1>" in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "at most 10 days" in (await gateway.client.get("/privacy")).text


async def test_a_program_finds_out_what_runs_here(gateway: Gateway) -> None:
    told: Any = (await gateway.client.get("/.well-known/serviceinfo")).json()
    assert (told["version"], told["api"]["aihorde"]["rel_url"]) == ("0.2", "/api/v2")
    assert told["api"]["aihorde"]["base_url"] == str(httpx.URL(gateway.url).join("/api/v2"))
    assert set(told["software"]) == {"name", "version", "repository", "homepage", "logo"}
