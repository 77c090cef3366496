"""What media decides without looking at a pixel."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract.refusal import Refusal
from services.media.rules.image_caps import RunningTotal, check_stored_total
from services.media.rules.image_sources import DataSource, WebSource, read_source
from services.media.rules.object_keys import Room, by_room, image_keys
from services.media.rules.public_addresses import is_public


@given(st.binary(min_size=1, max_size=100))
def test_the_size_of_a_data_url_is_known_without_decoding_it(data: bytes) -> None:
    source = read_source("data:image/png;base64," + base64.b64encode(data).decode(), 0)
    assert isinstance(source, DataSource)
    assert source.size == len(data)


@pytest.mark.parametrize(
    "url",
    ["DATA:IMAGE/JPEG;BASE64,eA==", "data:image/svg+xml;charset=utf-8;base64,eA=="],
)
def test_any_image_label_will_do(url: str) -> None:
    assert isinstance(read_source(url, 0), DataSource)


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,eA", "data:image/png;base64, eA==", "data:image/png;base64,eA==\n",
        "data:image/png;base64,e%3D==", "data:image/png;base64,\u00e4\u00e4\u00e4\u00e4",
        "data:image/png,eA==", "data:;base64,eA==",
        "data:image;base64,eA==", "javascript:alert(1)", "", "//example.org/a.png",
    ],
)  # fmt: skip
def test_loose_base64_and_other_schemes_are_refused(url: str) -> None:
    with pytest.raises(Refusal):
        read_source(url, 0)


def test_web_addresses_are_told_from_data() -> None:
    assert read_source("HTTPS://example.org/a.png", 0) == WebSource("HTTPS://example.org/a.png")


def test_the_total_may_reach_the_cap_exactly() -> None:
    total = RunningTotal(10)
    total.add(4, 0)
    total.add(6, 1)
    assert total.left == 0
    with pytest.raises(Refusal, match=r"11 bytes up to image 2.*10 bytes"):
        total.add(1, 2)


def test_stored_jpegs_may_reach_the_cap_exactly() -> None:
    check_stored_total([4, 6], 10)
    with pytest.raises(Refusal, match="encoded size of the images passed the cap"):
        check_stored_total([4, 7], 10)


def test_keys_tell_their_bucket() -> None:
    assert image_keys("id", 2) == ("id_chat_0.jpg", "id_chat_1.jpg")
    assert by_room(["a_chat_0.jpg", "a_chat_messages.json", "a_chat_0.jpg"]) == {
        Room.IMAGES: ["a_chat_0.jpg"],
        Room.MESSAGES: ["a_chat_messages.json"],
    }


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_may_be_asked(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104 - refused, not listened on
        "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
        "192.168.1.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1",
        "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1", "localhost", "",
    ],
)  # fmt: skip
def test_all_others_may_not(address: str) -> None:
    assert not is_public(address)
