"""Who is calling: headers, hops and addresses."""

from typing import Any

import pytest

from services.gateway.caller import UNKNOWN_ADDRESS, UNKNOWN_AGENT, caller_of


def a_scope(*headers: tuple[str, str], client: Any = ("10.0.0.1", 5)) -> dict[str, Any]:
    return {"headers": [(name.encode(), value.encode("latin-1")) for name, value in headers], "client": client}


def test_a_bare_request_is_an_unknown_agent_at_its_sockets_address() -> None:
    caller = caller_of(a_scope(), 1)
    assert (caller.api_key, caller.client_agent, caller.remote_address) == (None, UNKNOWN_AGENT, "10.0.0.1")


def test_both_spellings_of_the_agent_are_read_and_the_dashed_one_wins() -> None:
    assert caller_of(a_scope(("client_agent", "a:1")), 1).client_agent == "a:1"
    both = a_scope(("client-agent", "b:1:c"), ("client_agent", "a:1"))
    assert caller_of(both, 1).client_agent == "b:1:c"


def test_an_empty_key_is_no_key() -> None:
    assert caller_of(a_scope(("apikey", " ")), 1).api_key is None


@pytest.mark.parametrize(
    ("forwarded", "hops", "expected"),
    [
        (["6.6.6.6, 1.1.1.1"], 1, "1.1.1.1"),
        (["6.6.6.6, 1.1.1.1"], 2, "6.6.6.6"),
        (["6.6.6.6", "1.1.1.1"], 1, "1.1.1.1"),
        (["6.6.6.6, 1.1.1.1"], 0, "10.0.0.1"),
        (["1.1.1.1"], 2, "10.0.0.1"),
        (["nonsense"], 1, "10.0.0.1"),
        (["::ffff:1.2.3.4"], 1, "1.2.3.4"),
        (["2001:DB8:0::1"], 1, "2001:db8::1"),
        (["1.1.1.1:443"], 1, "1.1.1.1"),
        (["6.6.6.6, [2001:DB8::1]:443"], 1, "2001:db8::1"),
        (["[2001:db8::1]"], 1, "2001:db8::1"),
        (["[nonsense]:443"], 1, "10.0.0.1"),
        (["1.1.1.1:443:5"], 1, "10.0.0.1"),
        ([], 1, "10.0.0.1"),
    ],
)
def test_only_our_own_proxies_are_believed(forwarded: list[str], hops: int, expected: str) -> None:
    scope = a_scope(*(("x-forwarded-for", value) for value in forwarded))
    assert caller_of(scope, hops).remote_address == expected


def test_a_peer_without_an_address_has_a_placeholder() -> None:
    assert caller_of(a_scope(client=None), 1).remote_address == UNKNOWN_ADDRESS
