"""OffloadMessages and SignMessages on a real store: one self-contained JSON body behind one link."""

import gzip
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.blobs import BlobsUnavailable
from services.media.settings import MediaSettings
from tests.fakes.pictures import data_url, picture

type Serving = Callable[[MediaSettings], AbstractAsyncContextManager[Any]]

WORDS = [{"role": "user", "content": "Straße 東京 " * 2000}]


def shown(url: str, detail: str = "low") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, "detail": detail}}


async def fetched(url: str, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient() as anybody:
        anybody.headers.pop("accept-encoding")
        return await anybody.get(url, headers=headers)


async def test_the_object_is_the_array_as_a_worker_that_fetches_nothing_would_get_it(media: Any) -> None:
    keys = await media.store("r", data_url(picture((10, 20))), data_url(picture((30, 40))))
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "horde-r2://r_chat_0.jpg"},
        {"role": "user", "content": [{"type": "text", "text": "two"}, *(shown(f"horde-r2://{key}") for key in keys)]},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    assert await media.offload("r", said) == "r_chat_messages.json"
    answer = await fetched(await media.sign_messages("r"))
    first, second = await media.inline(*keys)
    said[1]["content"] = [{"type": "text", "text": "two"}, shown(first), shown(second)]
    assert answer.json() == said
    assert answer.content == json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-transform"
    assert "content-encoding" not in answer.headers


async def test_a_link_to_messages_holds_as_long_as_asked_and_leads_to_their_own_bucket(
    media: Any, media_settings: MediaSettings
) -> None:
    await media.offload("r", WORDS)
    url = urlsplit(await media.sign_messages("r", valid_seconds=123))
    assert parse_qs(url.query)["X-Amz-Expires"] == ["123"]
    assert url.path == f"/{media_settings.chat_messages_bucket}/r_chat_messages.json"


@pytest.mark.parametrize("accepted", [{}, {"accept-encoding": "identity"}, {"accept-encoding": "gzip"}])
async def test_gzipped_messages_say_so_or_come_plain(
    media_settings: MediaSettings, serving_media: Serving, accepted: dict[str, str]
) -> None:
    async with serving_media(media_settings.model_copy(update={"chat_messages_offload_gzip": True})) as media:
        await media.offload("r", WORDS)
        kept = media.deps.blobs._client.get_object(
            Bucket=media_settings.chat_messages_bucket, Key="r_chat_messages.json"
        )
        assert kept["ContentEncoding"] == "gzip"
        assert json.loads(gzip.decompress(kept["Body"].read())) == WORDS
        answer = await fetched(await media.sign_messages("r"), **accepted)
        assert answer.headers.get("content-encoding") in (None, "gzip")
        assert answer.json() == WORDS


async def test_messages_that_gzip_makes_no_smaller_are_stored_plain(
    media_settings: MediaSettings, serving_media: Serving
) -> None:
    async with serving_media(media_settings.model_copy(update={"chat_messages_offload_gzip": True})) as media:
        await media.offload("r", [])
        answer = await fetched(await media.sign_messages("r"))
    assert answer.content == b"[]"
    assert "content-encoding" not in answer.headers


async def test_the_messages_go_with_the_images(media: Any) -> None:
    keys = await media.store("r", data_url(picture()))
    await media.offload("r", WORDS)
    assert await media.delete(*keys, "r_chat_messages.json") == []
    for key in (*keys, "r_chat_messages.json"):
        with pytest.raises(BlobsUnavailable):
            await media.deps.blobs.read(key)


async def test_an_image_that_cannot_be_read_back_offloads_nothing(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await media.offload("r", [{"role": "user", "content": [shown("horde-r2://gone_chat_0.jpg")]}])
    assert refused.value.reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE


async def test_without_the_store_messages_are_refused_and_their_key_is_owed_a_delete(
    media_settings: MediaSettings, serving_media: Serving
) -> None:
    async with serving_media(media_settings.model_copy(update={"s3_endpoint": "http://127.0.0.1:1"})) as media:
        with pytest.raises(Refusal) as refused:
            await media.offload("r", WORDS)
        assert refused.value.reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE
        await media.deps.settle()
        assert await media.owed() == {"r_chat_messages.json"}
        assert await media.delete("a_chat_0.jpg") == ["a_chat_0.jpg"]
