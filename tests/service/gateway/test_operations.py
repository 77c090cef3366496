"""Filters, addresses and modes over HTTP: what is asked of moderation, and how its answers look."""

from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.moderation.v1 import addresses_pb2 as addresses
from horde_pb.moderation.v1 import filters_pb2 as filters
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation
from tests.fakes.running_gateway import Gateway

KEY = {"apikey": "a moderator's key"}
WORKER = "4f7d1c3e-6a55-4a0e-9d5c-3a6f1d2b7c90"
FILTER = filters.Filter(id=7, regex="bad.*", filter_type=10, description="d", replacement="r", user="mod#1")
SHOWN = {"id": "7", "regex": "bad.*", "filter_type": 10, "description": "d", "replacement": "r", "user": "mod#1"}


async def sent(gateway: Gateway, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    answer = await gateway.client.request(method, path, json=body, headers=KEY)
    if not path.endswith("/modes"):
        assert answer.headers["cache-control"] == "private, no-store"
    return answer.status_code, answer.json()


async def test_filters_are_listed_read_written_changed_and_deleted(gateway: Gateway) -> None:
    gateway.desk.answers |= {
        "ListFilters": filters.ListFiltersResponse(filters=[FILTER, filters.Filter(id=8, regex="x", filter_type=29)]),
        "GetFilter": filters.GetFilterResponse(filter=FILTER),
        "CreateFilter": filters.CreateFilterResponse(filter=FILTER),
        "UpdateFilter": filters.UpdateFilterResponse(filter=FILTER),
        "DeleteFilter": filters.DeleteFilterResponse(),
    }
    bare = {"id": "8", "regex": "x", "filter_type": 29, "description": None, "replacement": "", "user": ""}
    assert await sent(gateway, "GET", "/api/v2/filters?filter_type=10&contains=Bad") == (200, [SHOWN, bare])
    asked = gateway.desk.last("ListFilters")
    assert (asked.caller.api_key, asked.filter_type, asked.contains) == (KEY["apikey"], 10, "Bad")
    await sent(gateway, "GET", "/v2/filters")
    assert not gateway.desk.last("ListFilters").HasField("filter_type")
    assert await sent(gateway, "GET", "/v2/filters/7") == (200, SHOWN)
    new = {"regex": "bad.*", "filter_type": 10, "description": "", "replacement": None}
    assert await sent(gateway, "PUT", "/v2/filters", new) == (200, SHOWN)
    written = gateway.desk.last("CreateFilter")
    assert (written.regex, written.filter_type, written.description, written.replacement) == ("bad.*", 10, "", "")
    assert await sent(gateway, "PATCH", "/v2/filters/7", {"filter_type": 0, "regex": "", "description": "d"}) == (
        200,
        SHOWN,
    )
    changed = gateway.desk.last("UpdateFilter")
    assert (changed.id, changed.filter_type, changed.regex, changed.description) == ("7", 0, "", "d")
    assert await sent(gateway, "DELETE", "/v2/filters/7") == (200, {"message": "OK"})


async def test_a_text_is_tried_and_the_patterns_in_force_are_told(gateway: Gateway) -> None:
    gateway.desk.answers |= {
        "MatchFilters": filters.MatchFiltersResponse(suspicion=2, matches=["bad", "worse"]),
        "ListCompiledFilters": filters.ListCompiledFiltersResponse(
            compiled=[filters.CompiledFilters(filter_type=10, regex="a|b"), filters.CompiledFilters(filter_type=20)]
        ),
    }
    found = {"suspicion": 2, "matches": ["bad", "worse"]}
    assert await sent(gateway, "POST", "/v2/filters", {"prompt": "a bad\x00 text"}) == (200, found)
    tried = gateway.desk.last("MatchFilters")
    assert (tried.prompt, tried.HasField("filter_type")) == ("a bad\x00 text", False)
    in_force = [{"filter_type": 10, "regex": "a|b"}, {"filter_type": 20, "regex": ""}]
    assert await sent(gateway, "GET", "/v2/filters/regex?filter_type=10") == (200, in_force)


@pytest.mark.parametrize(
    ("method", "path", "body", "wrong"),
    [
        ("GET", "/v2/filters?filter_type=9", None, {"filter_type"}),
        ("GET", "/v2/filters?filter_type=x", None, {"filter_type"}),
        ("GET", "/v2/filters/regex?filter_type=30", None, {"filter_type"}),
        ("PUT", "/v2/filters", {}, {"regex", "filter_type"}),
        ("PUT", "/v2/filters", {"regex": "", "filter_type": 30}, {"regex", "filter_type"}),
        ("PUT", "/v2/filters", {"regex": "x" * 10_001, "filter_type": "10"}, {"regex", "filter_type"}),
        ("PUT", "/v2/filters", {"regex": 1, "filter_type": 10, "description": []}, {"regex", "description"}),
        ("POST", "/v2/filters", {"filter_type": 9}, {"prompt", "filter_type"}),
        ("PATCH", "/v2/filters/7", {"filter_type": 9, "regex": False}, {"filter_type", "regex"}),
        ("POST", "/v2/operations/ipaddr", {}, {"ipaddr", "hours"}),
        ("POST", "/v2/operations/ipaddr", {"ipaddr": "::1", "hours": 0}, {"ipaddr", "hours"}),
        ("POST", "/v2/operations/ipaddr", {"ipaddr": "1" * 41, "hours": 721}, {"ipaddr", "hours"}),
        ("POST", "/v2/operations/ipaddr", {"ipaddr": 1234567, "hours": 1.5}, {"ipaddr", "hours"}),
        ("DELETE", "/v2/operations/ipaddr", {}, {"ipaddr"}),
        ("PUT", f"/v2/operations/block_worker_ipaddr/{WORKER}", {"days": 31}, {"days"}),
        ("PUT", f"/v2/operations/block_worker_ipaddr/{WORKER}", {}, {"days"}),
        ("PUT", "/v2/status/modes", {"raid_mode": "yes", "maintenance_mode": 1}, {"raid_mode", "maintenance_mode"}),
    ],
)
async def test_what_breaks_its_shape_is_told_by_its_paths_and_asks_nobody(
    gateway: Gateway, method: str, path: str, body: Any, wrong: set[str]
) -> None:
    status, told = await sent(gateway, method, path, body)
    assert (status, told["rc"], set(told["errors"])) == (400, "BadRequest", wrong)
    assert gateway.desk.asked == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v2/filters", {"regex": "a\x00", "filter_type": 10}),
        ("PATCH", "/v2/filters/7", {"replacement": "\x00"}),
        ("GET", "/v2/filters?contains=%00", None),
    ],
)
async def test_a_nul_is_refused(gateway: Gateway, method: str, path: str, body: Any) -> None:
    status, told = await sent(gateway, method, path, body)
    assert (status, told["rc"]) == (400, "NulByteInPayload")
    assert gateway.desk.asked == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v2/filters", None),
        ("PUT", "/v2/filters", {"regex": "a", "filter_type": 10}),
        ("POST", "/v2/filters", {"prompt": "a"}),
        ("GET", "/v2/filters/regex", None),
        ("GET", "/v2/filters/7", None),
        ("PATCH", "/v2/filters/7", {"regex": "a"}),
        ("DELETE", "/v2/filters/7", None),
        ("GET", "/v2/operations/ipaddr", None),
        ("POST", "/v2/operations/ipaddr", {"ipaddr": "1.2.3.4", "hours": 1}),
        ("DELETE", "/v2/operations/ipaddr", {"ipaddr": "1.2.3.4"}),
        ("GET", "/v2/operations/ipaddr/1.2.3.4", None),
        ("PUT", f"/v2/operations/block_worker_ipaddr/{WORKER}", {"days": 1}),
        ("DELETE", f"/v2/operations/block_worker_ipaddr/{WORKER}", None),
        ("PUT", "/v2/status/modes", {"raid_mode": True}),
    ],
)
async def test_without_a_key_nothing_is_asked(gateway: Gateway, method: str, path: str, body: Any) -> None:
    answer = await gateway.client.request(method, path, json=body)
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"apikey"})
    assert gateway.desk.asked == []


async def test_addresses_are_listed_blocked_and_let_in(gateway: Gateway) -> None:
    out = [addresses.AddressTimeout(address="9.8.0.0/16", seconds=60)]
    gateway.desk.answers |= {
        "ListAddressBlocks": addresses.ListAddressBlocksResponse(blocks=out),
        "GetAddressTimeouts": addresses.GetAddressTimeoutsResponse(timeouts=out),
        "BlockAddress": addresses.BlockAddressResponse(),
        "UnblockAddress": addresses.UnblockAddressResponse(),
        "BlockWorkerAddress": addresses.BlockWorkerAddressResponse(blocked=True),
        "UnblockWorkerAddress": addresses.UnblockWorkerAddressResponse(),
    }
    shown, done = [{"ipaddr": "9.8.0.0/16", "seconds": 60}], {"message": "OK"}
    assert await sent(gateway, "GET", "/api/v2/operations/ipaddr") == (200, shown)
    assert await sent(gateway, "GET", "/v2/operations/ipaddr/9.8.0.0/16") == (200, shown)
    assert gateway.desk.last("GetAddressTimeouts").address == "9.8.0.0/16"
    assert await sent(gateway, "GET", "/v2/operations/ipaddr/2001:db8::1") == (200, shown)
    assert await sent(gateway, "POST", "/v2/operations/ipaddr", {"ipaddr": "1.2.3.4", "hours": 720}) == (200, done)
    assert (gateway.desk.last("BlockAddress").address, gateway.desk.last("BlockAddress").hours) == ("1.2.3.4", 720)
    assert await sent(gateway, "DELETE", "/v2/operations/ipaddr", {"ipaddr": "1.2.3.4"}) == (200, done)
    worker = f"/v2/operations/block_worker_ipaddr/{WORKER}"
    assert await sent(gateway, "PUT", worker, {"days": 30}) == (200, {"message": "OK", "blocked": True})
    asked = gateway.desk.last("BlockWorkerAddress")
    assert (asked.worker_id, asked.days) == (WORKER, 30)
    assert await sent(gateway, "DELETE", worker) == (200, done)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (reasons.FILTER_NOT_FOUND, 404),
        (reasons.NO_FILTER_MOD_SELECTED, 400),
        (reasons.NOT_MODERATOR, 403),
        (reasons.INVALID_API_KEY, 401),
    ],
)
async def test_refusals_keep_their_words(gateway: Gateway, reason: reasons.Reason, status: int) -> None:
    gateway.desk.answers["GetFilter"] = Refusal(reason, "No.")
    assert await sent(gateway, "GET", "/v2/filters/7") == (status, {"message": "No.", "rc": reason.word})


async def test_switched_modes_are_told_at_once(gateway: Gateway) -> None:
    now = moderation.GetModesResponse()

    def switch(ask: Any) -> moderation.SetModesResponse:
        now.maintenance = ask.maintenance
        return moderation.SetModesResponse(maintenance=ask.maintenance)

    gateway.desk.answers |= {"GetModes": lambda _: now, "SetModes": switch}
    shown = {"maintenance_mode": False, "invite_only_mode": False}
    assert (await gateway.client.get("/v2/status/modes")).json() == shown
    assert await sent(gateway, "PUT", "/v2/status/modes", {"maintenance_mode": True}) == (
        200,
        {"maintenance_mode": True},
    )
    asked = gateway.desk.last("SetModes")
    assert (asked.HasField("invite_only"), asked.HasField("raid")) == (False, False)
    assert (await gateway.client.get("/v2/status/modes")).json() == {**shown, "maintenance_mode": True}


async def test_no_mode_at_all_and_a_mode_of_somebody_elses_are_refused(gateway: Gateway) -> None:
    for reason, status in ((reasons.NO_HORDE_MOD_SELECTED, 400), (reasons.NOT_ADMIN, 403)):
        gateway.desk.answers["SetModes"] = Refusal(reason, "No.")
        assert await sent(gateway, "PUT", "/v2/status/modes", {}) == (status, {"message": "No.", "rc": reason.word})
