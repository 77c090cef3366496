"""StoreImages when decoders are busy or the store is slow, and what operators see of it."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from prometheus_client import REGISTRY

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.media import blobs
from services.media.settings import MediaSettings
from tests.fakes.fault_proxy import FaultProxy
from tests.fakes.pictures import data_url, noise, picture

type Serving = Callable[[MediaSettings], AbstractAsyncContextManager[Any]]


async def refused(asking: Any) -> Refusal:
    with pytest.raises(Refusal) as no:
        await asking
    return no.value


async def test_images_that_no_decoder_takes_in_time_are_refused_until_later(
    media_settings: MediaSettings, serving_media: Serving
) -> None:
    crowded = media_settings.model_copy(update={"media_decoders": 1, "media_decode_queue_seconds": 0.001})
    async with serving_media(crowded) as media:
        no = await refused(media.store("r", *[data_url(noise(800))] * 3))
        assert no.reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE
        assert "Too many images" in no.message
        assert await media.store("alone", data_url(picture())) == ["alone_chat_0.jpg"]


@pytest.mark.parametrize("trouble", ["blackhole", "refuse"])
async def test_a_store_that_hangs_or_hangs_up_is_a_refusal_and_the_objects_go_once_it_answers(
    media_settings: MediaSettings, serving_media: Serving, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    monkeypatch.setattr(blobs, "_READ_SECONDS", 0.3)
    async with FaultProxy.before(media_settings.s3_endpoint) as store:
        settings = media_settings.model_copy(update={"s3_endpoint": store.url(media_settings.s3_endpoint)})
        async with serving_media(settings) as media:
            setattr(store, trouble, True)
            no = await refused(media.store("r", data_url(picture()), data_url(picture())))
            assert no.reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE
            assert (await refused(media.inline("r_chat_0.jpg"))).reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE
            assert (await refused(media.offload("r", []))).reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE
            await media.deps.settle()
            owed = {"r_chat_0.jpg", "r_chat_1.jpg", "r_chat_messages.json"}
            assert await media.owed() == owed
            store.reset_all()  # what hung on its way never arrives; dispatch deletes again for what does
            setattr(store, trouble, False)
            monkeypatch.setattr(blobs, "_READ_SECONDS", 10)
            async with asyncio.timeout(20):
                while await media.owed():
                    await media.retry()
            for key in owed:
                assert (await refused(media.inline(key))).reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE


async def test_operators_see_bytes_seconds_refusals_and_what_is_owed(media: Any) -> None:
    def seen(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    def everything() -> dict[str, float]:
        return {
            "received": seen("horde_media_bytes_total", stage="received"),
            "stored": seen("horde_media_bytes_total", stage="stored"),
            "offloaded": seen("horde_media_bytes_total", stage="offloaded"),
            "decode": seen("horde_media_stage_seconds_count", stage="decode"),
            "store": seen("horde_media_stage_seconds_count", stage="store"),
            "queue": seen("horde_media_decode_queue_seconds_count"),
            "unreadable": seen("horde_media_refusals_total", reason="SourceImageUnreadable"),
            "deleted": seen("horde_media_deletes_total", outcome="deleted"),
        }

    before, image = everything(), picture()
    (key,) = await media.store("r", data_url(image))
    stored = len(await media.deps.blobs.read(key))
    await media.offload("r", [])
    await refused(media.store("s", data_url(b"no image")))
    await media.delete(key)
    after = everything()
    assert {name: after[name] - before[name] for name in after} == {
        "received": len(image) + len(b"no image"),
        "stored": stored,
        "offloaded": 2,
        "decode": 1,
        "store": 2,
        "queue": 2,
        "unreadable": 1,
        "deleted": 1,
    }
    await media.deps.queue.add(["a", "b"])
    await media.retry()
    assert seen("horde_media_delete_retry_keys") == 0
