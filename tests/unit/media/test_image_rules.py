"""What media decides without looking at a pixel."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract.refusal import Refusal
from services.media.rules.image_caps import RunningTotal, check_stored_total
from services.media.rules.image_sources import DataSource, WebSource, read_source
from services.media.rules.object_keys import Room, by_room, image_keys


@given(st.binary(min_size=1, max_size=300))
def test_the_size_of_a_data_url_is_known_without_decoding_it(data: bytes) -> None:
    whole = base64.b64encode(data).decode()
    for written in (whole, whole.rstrip("="), base64.encodebytes(data).decode(), f" {whole}\r\n"):
        source = read_source("data:image/png;base64," + written, 0)
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
        "data:image/png;base64,", "data:image/png;base64,\u00e4\u00e4\u00e4\u00e4",
        "data:image/png,eA==", "data:;base64,eA==",
        "data:image;base64,eA==", "javascript:alert(1)", "", "//example.org/a.png",
    ],
)  # fmt: skip
def test_what_holds_no_base64_and_other_schemes_are_refused(url: str) -> None:
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
