"""StoreImages with addresses instead of data: the total is checked after each fetch and before the next."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media.settings import MediaSettings
from tests.fakes.internet import Internet, internet
from tests.fakes.pictures import data_url, opened, picture

IMAGE = picture((40, 30))


@pytest.fixture
async def web() -> AsyncIterator[Internet]:
    async def answer(_head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + IMAGE)

    async with internet(answer, {}) as world:
        yield world


async def test_a_web_image_is_stored_beside_a_data_url_in_order(
    media_settings: MediaSettings,
    serving_media: Callable[[MediaSettings], AbstractAsyncContextManager[Any]],
    web: Internet,
) -> None:
    here = f"127.0.0.1:{web.port}"
    async with serving_media(media_settings.model_copy(update={"image_fetch_allowed_hosts": (here,)})) as media:
        keys = await media.store("r", data_url(picture((9, 9))), f"http://{here}/a.png", data_url(picture((8, 8))))
        assert [opened(await media.deps.blobs.read(key)).size for key in keys] == [(9, 9), (40, 30), (8, 8)]
        with pytest.raises(Refusal) as refused:
            await media.store("s", *[f"http://{here}/a.png"] * 3, max_total_bytes=2 * len(IMAGE) - 1)
        assert refused.value.reason is reasons.SOURCE_IMAGE_SIZE_EXCEEDED
        assert len(web.requests) == 3


async def test_a_private_address_is_refused(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await media.store("r", "http://127.0.0.1:9/a.png")
    assert refused.value.reason is reasons.SOURCE_IMAGE_URL_REFUSED
