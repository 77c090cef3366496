"""What moderators may decide, and how moderators are told: pure rules."""

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.moderation.rules import blocking, filters, modes, notices, timeouts
from services.moderation.rules.blocking import Network, Single
from services.moderation.rules.modes import ModesChange, Operator


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (" 1.2.3.4 ", Single("1.2.3.4")),
        ("::ffff:1.2.3.4", Single("1.2.3.4")),
        ("2001:DB8::1", Single("2001:db8::/64")),
        ("1.2.3.4/32", Network("1.2.3.4/32")),
        ("1.2.0.0/16", Network("1.2.0.0/16")),
        ("2001:db8::/64", Network("2001:db8::/64")),
        ("2001:DB8::/32", Network("2001:db8::/32")),
        ("2001:db8::5/128", Network("2001:db8::5/128")),
        ("::ffff:1.2.0.0/112", Network("1.2.0.0/16")),
        ("0.0.0.0/0", Network("0.0.0.0/0")),
        ("::/0", Network("::/0")),
    ],
)
def test_a_slash_makes_a_network_and_all_else_is_one_subject(text: str, target: object) -> None:
    assert blocking.target(text) == target


@pytest.mark.parametrize(
    "text", ["", "x", "1.2.3.4/16", "1.2.3.4/", "1.2.3.4/x", "1.2.3.4 5", "[::1]", "::1/64", "1/8/8"]
)
def test_what_is_no_address_is_a_bad_request(text: str) -> None:
    for reading in (blocking.target, blocking.around):
        with pytest.raises(Refusal) as no:
            reading(text)
        assert no.value.reason is reasons.BAD_REQUEST


def test_what_lies_around_a_network_begins_with_itself() -> None:
    networks, subject = blocking.around("1.2.0.0/16")
    assert (networks[0], networks[-1], len(networks), subject) == ("1.2.0.0/16", "0.0.0.0/0", 17, None)
    assert blocking.around("2001:db8::/64")[1] == "2001:db8::/64"
    assert blocking.around("2001:db8::/65")[1] is None
    networks, subject = blocking.around("2001:db8::1")
    assert (networks[0], len(networks), subject) == ("2001:db8::1/128", 129, "2001:db8::/64")


def test_a_subject_is_kept_out_as_a_network_only_on_ipv6() -> None:
    assert blocking.target_of_subject("2001:db8::/64") == Network("2001:db8::/64")
    assert blocking.target_of_subject("1.2.3.4") == Single("1.2.3.4")


@pytest.mark.parametrize(
    ("change", "ordinary", "moderator", "admin"),
    [
        ((True, None, None), "NotAdmin", "NotAdmin", None),
        ((None, True, None), "NotModerator", None, None),
        ((None, None, False), "NotModerator", None, None),
        ((False, True, True), "NotAdmin", "NotAdmin", None),
        ((None, None, None), "NoHordeModSelected", "NoHordeModSelected", "NoHordeModSelected"),
    ],
)
def test_who_may_switch_which_mode(
    change: tuple[bool | None, bool | None, bool | None], ordinary: str | None, moderator: str | None, admin: str | None
) -> None:
    def answer(operator: Operator) -> str | None:
        try:
            modes.refuse_change(operator, ModesChange(*change))
        except Refusal as no:
            return no.reason.word
        return None

    operators = (
        Operator(1, moderator=False, admin=False),
        Operator(1, moderator=True, admin=False),
        Operator(1, moderator=False, admin=True),
    )
    assert [answer(operator) for operator in operators] == [ordinary, moderator, admin]


def test_timeouts_grow_by_six_minutes_and_a_service_has_a_short_memory() -> None:
    assert [int(timeouts.timeout_after(n).total_seconds() // 60) for n in range(5)] == [3, 9, 15, 21, 27]
    assert (timeouts.SERVICE_ADDRESS.longest.seconds, timeouts.SERVICE_ADDRESS.memory.seconds) == (300, 3600)
    assert [timeouts.proxy_earns_notice(n) for n in (1, 11, 12, 13)] == [False, False, True, False]


def test_a_notice_names_no_address_and_links_only_where_there_is_something_to_see() -> None:
    told = notices.model_timeout("f" * 64, count=6, minutes=9, event_id=812, frontpage_url=None)
    assert told.splitlines() == [
        "IP subject ffffffffffff is timed out for 9 minutes after model rejections",
        "6 model rejections in this hour",
        "event 812",
        "open it in the frontpage's Prompts tab",
    ]
    told = notices.model_timeout(None, count=0, minutes=3, event_id=None, frontpage_url="https://front.example")
    assert told.splitlines() == [
        "An unnamed IP subject is timed out for 3 minutes after model rejections",
        "the model rejections of this hour could not be counted",
        "the evidence could not be written",
    ]


def test_names_in_a_notice_have_no_power_over_it() -> None:
    told = notices.proxy_suspicion("@everyone\n[x](https://evil)" + "y" * 100, count=12)
    assert "\n" not in told
    assert "\\@everyone" in told
    assert "\\[x\\]" in told
    assert len(told) < 150
    assert notices.escaped("a\r\x85\u2028\u2029\x0bb") == "a     b"
    assert notices.escaped("\u202eevil\u2066") == " evil "
    assert notices.proxy_suspicion("*" * 100, count=12).endswith("\\*" * 60)


def test_ids_of_filters_are_small_numbers() -> None:
    assert filters.filter_id("2147483647") == 2147483647
    for wrong in ("2147483648", "-1", "", "1e3", "0x1", "\u0661", " 1"):
        with pytest.raises(Refusal) as no:
            filters.filter_id(wrong)
        assert no.value.reason is reasons.FILTER_NOT_FOUND
