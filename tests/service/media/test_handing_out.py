"""SignImages, InlineImages and DeleteObjects on a real store."""

import base64
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from botocore.exceptions import ClientError

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.blobs import BlobsUnavailable, Form
from services.media.live import DELETE_RETRY
from services.media.settings import MediaSettings
from tests.fakes.pictures import data_url, opened, picture

type Serving = Callable[[MediaSettings], AbstractAsyncContextManager[Any]]


async def test_a_signed_link_gives_the_image_to_anybody_who_holds_it(media: Any) -> None:
    keys = await media.store("r", data_url(picture((10, 20))))
    (url,) = await media.sign(*keys, valid_seconds=777)
    assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == ["777"]
    async with httpx.AsyncClient() as anybody:
        answer = await anybody.get(url)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
        assert opened(answer.content).size == (10, 20)
        assert (await anybody.get(url.replace("X-Amz-Expires=777", "X-Amz-Expires=7777"))).status_code == 403


async def test_links_are_signed_while_the_store_is_away(media_settings: MediaSettings, serving_media: Serving) -> None:
    nowhere = media_settings.model_copy(update={"s3_endpoint": "http://127.0.0.1:1"})
    async with serving_media(nowhere) as media:
        urls = await media.sign("a_chat_0.jpg", "a_chat_messages.json")
    paths = [urlsplit(url).path for url in urls]
    assert paths == [
        f"/{media_settings.source_image_bucket}/a_chat_0.jpg",
        f"/{media_settings.chat_messages_bucket}/a_chat_messages.json",
    ]


async def test_inlined_images_are_data_urls_of_the_stored_bytes_in_order(media: Any) -> None:
    keys = await media.store("r", data_url(picture((10, 20))), data_url(picture((30, 40))))
    urls = await media.inline(*reversed(keys))
    assert all(url.startswith("data:image/jpeg;base64,") for url in urls)
    images = [opened(base64.b64decode(url.partition(",")[2])) for url in urls]
    assert [image.size for image in images] == [(30, 40), (10, 20)]


async def test_an_image_that_is_gone_cannot_be_inlined(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await media.inline("nothing_chat_0.jpg")
    assert refused.value.reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE


async def test_deleted_objects_are_gone_and_nothing_is_owed(media: Any) -> None:
    keys = await media.store("r", data_url(picture()), data_url(picture()))
    await media.deps.blobs.put("r_chat_messages.json", b"[]", Form("application/json"))
    await media.delete(*keys, "r_chat_messages.json", "never_there_chat_0.jpg")
    for key in (*keys, "r_chat_messages.json"):
        with pytest.raises(BlobsUnavailable):
            await media.deps.blobs.read(key)
    assert await media.owed() == set()


async def test_more_keys_than_the_store_takes_at_once_are_deleted_in_one_call(media: Any) -> None:
    keys = await media.store("r", data_url(picture()))
    await media.delete(*[f"x{number}_chat_0.jpg" for number in range(600)], *keys)
    with pytest.raises(BlobsUnavailable):
        await media.deps.blobs.read(keys[0])


async def test_what_the_store_does_not_delete_is_deleted_by_the_loop_once_it_is_back(
    media: Any, media_settings: MediaSettings, serving_media: Serving
) -> None:
    keys = await media.store("r", data_url(picture()), data_url(picture()))
    nowhere = media_settings.model_copy(update={"s3_endpoint": "http://127.0.0.1:1"})
    async with serving_media(nowhere) as cut_off:
        await cut_off.delete(*keys)
        await cut_off.retry()
        assert await media.owed() == set(keys)
    assert await media.live.redis.ttl(DELETE_RETRY()) == -1
    await media.retry()
    assert await media.owed() == set()
    with pytest.raises(BlobsUnavailable):
        await media.deps.blobs.read(keys[0])


async def test_without_the_store_and_without_redis_a_delete_still_answers(
    media_settings: MediaSettings, serving_media: Serving
) -> None:
    alone = {"s3_endpoint": "http://127.0.0.1:1", "redis_url": "redis://127.0.0.1:1/0"}
    async with serving_media(media_settings.model_copy(update=alone)) as media:
        await media.delete("a_chat_0.jpg")


async def test_a_missing_bucket_is_made_by_the_readiness_check(
    media_settings: MediaSettings, serving_media: Serving
) -> None:
    fresh = media_settings.model_copy(update={"source_image_bucket": f"new-{media_settings.source_image_bucket}"})
    async with serving_media(fresh) as media:
        with pytest.raises(ClientError):
            media.deps.blobs._client.head_bucket(Bucket=fresh.source_image_bucket)
        await media.deps.blobs.check()
        media.deps.blobs._client.head_bucket(Bucket=fresh.source_image_bucket)
