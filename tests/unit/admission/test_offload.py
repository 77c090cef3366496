"""Which messages are offloaded: judged by the JSON that a base64 worker would receive, without making it."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horde.contract.chat.images import image_keys_of, with_image_urls, with_stored_images
from services.admission.rules.offload import is_offloaded, may_offload


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@given(sizes=st.lists(st.integers(1, 400), max_size=5), words=st.text(max_size=50), margin=st.integers(-1, 1))
def test_an_image_counts_as_the_data_url_of_its_stored_jpeg(sizes: list[int], words: str, margin: int) -> None:
    sent = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    parts: list[Any] = [{"type": "text", "text": words}, *([sent] * len(sizes))]
    stored = with_stored_images([{"role": "user", "content": parts}], "an-id")
    keys = image_keys_of(stored)
    urls = {
        key: "data:image/jpeg;base64," + base64.b64encode(bytes(size)).decode()
        for key, size in zip(keys, sizes, strict=True)
    }
    received = len(compact(with_image_urls(stored, urls)))
    assert is_offloaded(compact(stored), keys, sizes, threshold=received + margin) == (margin < 0)


@pytest.mark.parametrize(
    ("length", "images", "threshold", "expected"),
    [(11, 0, 10, True), (10, 0, 10, False), (5, 1, 10, True), (11, 1, None, False), (11, 0, None, False)],
)
def test_the_row_names_an_object_that_may_come_to_be(
    length: int, images: int, threshold: int | None, *, expected: bool
) -> None:
    assert may_offload(b"x" * length, images, threshold=threshold) is expected
