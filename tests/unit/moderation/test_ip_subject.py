"""The subject of an address, and its pseudonym. base-domain 7.5, moderation.md A2."""

from ipaddress import IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horde.contract.ip_subject import has_real_secret, ip_subject, ip_subject_key
from services.moderation.rules.ip_subject import blocks_around, origin_text


@pytest.mark.parametrize(
    ("origin", "subject"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("  1.2.3.4\t", "1.2.3.4"),
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("::FFFF:102:304", "1.2.3.4"),
        ("::ffff:1.2.3.4/128", "1.2.3.4"),
        ("2001:db8:abcd:1234::5", "2001:db8:abcd:1234::/64"),
        ("2001:DB8:ABCD:1234:ffff:ffff:ffff:ffff", "2001:db8:abcd:1234::/64"),
        ("2001:db8:0:0:ffff::/80", "2001:db8::/64"),
        ("2001:db8::/64", "2001:db8::/64"),
        ("2001:db8::7/128", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("64:ff9b::102:304", "64:ff9b::/64"),
        ("::1", "::/64"),
    ],
)
def test_addresses_have_a_subject(origin: str, subject: str) -> None:
    assert ip_subject(origin) == subject
    assert ip_subject(subject) == subject
    assert origin_text(origin) is None


@pytest.mark.parametrize(
    "origin",
    [
        "1.2.3.0/24", "1.2.3.4/31", "1.2.3.4/32", "2001:db8::/63", "2001:db8::/32", "::/0", "::ffff:1.2.3.0/120",
        "1.2.3.4:80", "[2001:db8::1]",
        "[2001:db8::1]:443", "1.2.3.4, 5.6.7.8", "01.2.3.4", "0x7f.1", "256.1.1.1", "2130706433",
        "unknown", "example.org",
        "1.2.3.4/33", "1.2.3.4/032", "2001:db8::/129",
    ],
)  # fmt: skip
def test_everything_else_has_none_and_is_kept_as_text(origin: str) -> None:
    assert ip_subject(origin) is None
    assert origin_text(origin) == origin
    assert blocks_around(origin) == ()


@pytest.mark.parametrize("origin", [None, "", "  ", "\t\n"])
def test_blank_origins_have_neither(origin: str | None) -> None:
    assert ip_subject(origin) is None
    assert origin_text(origin) is None


def test_origin_text_is_clipped_and_can_be_stored() -> None:
    assert origin_text("x" * 300) == "x" * 255
    assert origin_text("a\x00b") == "a\ufffdb"


@settings(deadline=None)  # a busy machine is no mistake
@given(st.ip_addresses())
def test_a_subject_is_its_own_subject(address: object) -> None:
    subject = ip_subject(str(address))
    assert subject is not None
    assert ip_subject(subject) == subject


@settings(deadline=None)  # a busy machine is no mistake
@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_all_addresses_of_one_64_are_one_subject(address: IPv6Address, host: int) -> None:
    other = IPv6Address((int(address) >> 64 << 64) | host)
    if address.ipv4_mapped is None and other.ipv4_mapped is None:
        assert ip_subject(str(address)) == ip_subject(str(other))


def test_the_networks_around_an_address_reach_from_itself_to_the_whole_internet() -> None:
    around = blocks_around("::ffff:10.1.2.3")
    assert (around[0], around[8], around[-1], len(around)) == ("10.1.2.3/32", "10.1.2.0/24", "0.0.0.0/0", 33)
    around = blocks_around("2001:db8::1")
    assert (around[0], around[64], around[-1], len(around)) == ("2001:db8::1/128", "2001:db8::/64", "::/0", 129)
    assert blocks_around("2001:db8::/64")[0] == "2001:db8::/64"


def test_pseudonyms_are_equal_for_equal_subjects_and_need_a_real_secret() -> None:
    key = ip_subject_key("1.2.3.4", "a secret")
    assert key is not None
    assert (len(key), key) == (64, key.lower())
    assert key == ip_subject_key(ip_subject("::ffff:1.2.3.4"), "a secret")
    assert key != ip_subject_key("1.2.3.4", "another secret")
    assert ip_subject_key(None, "a secret") is None
    for published in (None, "", "changeme", "s0m3s3cr3t"):
        assert not has_real_secret(published)
        assert ip_subject_key("1.2.3.4", published) is None
