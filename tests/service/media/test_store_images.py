"""StoreImages: all images or none, within the caps, as JPEGs under their keys."""

import asyncio
import base64
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde_pb.media.v1 import media_service_pb2 as pb
from services.media.blobs import BlobsUnavailable
from services.media.settings import MediaSettings
from tests.fakes.pictures import data_url, noise, opened, picture


async def test_images_are_stored_in_order_as_jpegs_under_the_keys_of_the_request(media: Any) -> None:
    keys = await media.store("r1", data_url(picture((10, 20))), data_url(picture((30, 40), kind="GIF", mode="P")))
    assert keys == ["r1_chat_0.jpg", "r1_chat_1.jpg"]
    stored = [opened(await media.deps.blobs.read(key)) for key in keys]
    assert [(image.format, image.size) for image in stored] == [("JPEG", (10, 20)), ("JPEG", (30, 40))]


async def test_the_label_of_a_data_url_does_not_matter_but_its_bytes_do(media: Any) -> None:
    assert await media.store("r", data_url(picture(kind="WEBP"), "image/x-anything;charset=utf-8"))
    with pytest.raises(Refusal) as refused:
        await media.store("r", data_url(b'<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"))
    assert refused.value.reason is reasons.SOURCE_IMAGE_UNREADABLE


async def test_one_bad_image_stores_none_of_them(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await media.store("r", data_url(picture()), data_url(picture()[:60]))
    assert refused.value.reason is reasons.SOURCE_IMAGE_UNREADABLE
    assert "Image 1" in refused.value.message
    assert refused.value.facts == {"image": 1}
    with pytest.raises(BlobsUnavailable):
        await media.deps.blobs.read("r_chat_0.jpg")


async def test_a_total_past_the_cap_is_refused_with_the_total_and_the_cap(media: Any) -> None:
    image = picture()
    cap = 2 * len(image) - 1
    with pytest.raises(Refusal) as refused:
        await media.store("r", data_url(image), data_url(image), max_total_bytes=cap)
    assert refused.value.reason is reasons.SOURCE_IMAGE_SIZE_EXCEEDED
    assert str(2 * len(image)) in refused.value.message
    assert str(cap) in refused.value.message
    assert refused.value.facts["image"] == 1


async def test_a_small_png_that_grows_past_the_cap_as_a_jpeg_is_refused_as_encoded(media: Any) -> None:
    image = picture((2000, 2000), mode="1")
    with pytest.raises(Refusal) as refused:
        await media.store("r", data_url(image), max_total_bytes=len(image))
    assert refused.value.reason is reasons.SOURCE_IMAGE_SIZE_EXCEEDED
    assert "encoded size" in refused.value.message


async def test_an_image_above_five_mebibytes_is_refused_before_it_is_decoded(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await media.store("r", data_url(b"\0" * (5 * 1024 * 1024 + 1)))
    assert refused.value.reason is reasons.SOURCE_IMAGE_SIZE_EXCEEDED


async def test_too_many_pixels_are_refused_by_the_header(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await media.store("r", data_url(picture((3073, 3072), mode="1")))
    assert refused.value.reason is reasons.SOURCE_IMAGE_RESOLUTION_EXCEEDED
    assert str(3073 * 3072) in refused.value.message
    assert refused.value.facts == {"image": 0}


async def test_a_twenty_first_image_is_refused(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await media.store("r", *[data_url(picture())] * 21)
    assert refused.value.reason is reasons.TOO_MANY_EXTRA_SOURCE_IMAGES


async def test_twenty_images_of_a_request_are_stored(media: Any) -> None:
    image = data_url(noise(300))
    assert len(await media.store("r", *[image] * 20)) == 20


async def stored_while_decoders_die(media: Any, *, deaths: int) -> list[str]:
    """What becomes of an image whose decoder, and each one after it, is killed before it can answer."""
    await media.store("warm", data_url(picture()))
    decoders = media.deps.decoders
    slot = next(slot for slot in decoders._slots if slot._process is not None)
    slot._process.send_signal(signal.SIGSTOP)
    asking = asyncio.create_task(media.store("r", data_url(picture())))
    while decoders._free.qsize() == len(decoders._slots):  # noqa: ASYNC110 - a slot tells nobody that it was asked
        await asyncio.sleep(0.001)
    dead = None
    for _ in range(deaths):
        while slot._process in (None, dead):  # noqa: ASYNC110 - nor that it has a new process
            await asyncio.sleep(0.001)
        dead = slot._process
        dead.kill()
    keys: list[str] = await asking
    return keys


async def test_an_image_whose_decoder_dies_is_given_to_one_more(media: Any) -> None:
    assert await stored_while_decoders_die(media, deaths=1) == ["r_chat_0.jpg"]


async def test_an_image_that_two_decoders_died_of_is_refused_and_the_next_one_is_decoded(media: Any) -> None:
    with pytest.raises(Refusal) as refused:
        await stored_while_decoders_die(media, deaths=2)
    assert refused.value.reason is reasons.SOURCE_IMAGE_UNREADABLE
    assert await media.store("after", data_url(picture())) == ["after_chat_0.jpg"]


async def test_a_decoder_that_died_while_it_had_nothing_to_do_refuses_nothing(media: Any) -> None:
    await media.store("warm", data_url(picture()))
    for slot in media.deps.decoders._slots:
        if slot._process is not None:
            slot._process.kill()
    assert await media.store("next", data_url(picture())) == ["next_chat_0.jpg"]


async def test_a_decoder_that_takes_too_long_refuses_its_image(
    media_settings: MediaSettings, serving_media: Callable[[MediaSettings], AbstractAsyncContextManager[Any]]
) -> None:
    hurried = media_settings.model_copy(update={"media_decode_seconds": 0.001})
    async with serving_media(hurried) as media:
        with pytest.raises(Refusal) as refused:
            await media.store("r", data_url(picture((3000, 3000))))
    assert refused.value.reason is reasons.SOURCE_IMAGE_UNREADABLE


async def test_without_the_store_the_answer_is_unavailable_and_every_key_is_owed_a_delete(
    media_settings: MediaSettings, serving_media: Callable[[MediaSettings], AbstractAsyncContextManager[Any]]
) -> None:
    nowhere = media_settings.model_copy(update={"s3_endpoint": "http://127.0.0.1:1"})
    async with serving_media(nowhere) as media:
        with pytest.raises(Refusal) as refused:
            await media.store("r", data_url(picture()), data_url(picture()))
        assert refused.value.reason is reasons.CHAT_IMAGE_STORAGE_UNAVAILABLE
        await media.deps.settle()
        assert await media.owed() == {"r_chat_0.jpg", "r_chat_1.jpg"}


async def test_a_repeat_overwrites_the_same_keys(media: Any) -> None:
    first = await media.store("r", data_url(picture((10, 10))))
    assert await media.store("r", data_url(picture((20, 20)))) == first
    assert opened(await media.deps.blobs.read(first[0])).size == (20, 20)


async def hung_up_while_storing(media: Any, request_id: str) -> None:
    ask = pb.StoreImagesRequest(request_id=request_id, urls=[data_url(picture())] * 5, max_total_bytes=10**7)
    call = media.stub.StoreImages(ask)
    while f"{request_id}_chat_0.jpg" not in media.deps.newest:  # noqa: ASYNC110 - the service tells nobody that it has begun
        await asyncio.sleep(0.001)
    call.cancel()


async def is_stored(media: Any, request_id: str) -> list[bool]:
    found = await asyncio.gather(
        *(media.deps.blobs.read(f"{request_id}_chat_{number}.jpg") for number in range(5)), return_exceptions=True
    )
    return [isinstance(body, bytes) for body in found]


async def test_what_a_caller_that_hung_up_had_stored_is_taken_back(media: Any) -> None:
    await hung_up_while_storing(media, "r")
    while media.deps.newest or media.deps.background:  # noqa: ASYNC110 - see above
        await asyncio.sleep(0.01)
    assert await is_stored(media, "r") == [False] * 5


async def test_a_caller_that_comes_back_with_the_same_request_keeps_its_images(media: Any) -> None:
    await hung_up_while_storing(media, "r")
    await media.store("r", *[data_url(picture())] * 5)
    await media.deps.settle()
    assert await is_stored(media, "r") == [True] * 5


async def test_base64_may_be_broken_into_lines_and_lack_its_padding(media: Any) -> None:
    head, _, written = data_url(picture()).partition(",")
    lines = base64.encodebytes(base64.b64decode(written)).decode()
    for number, loose in enumerate((lines, f"\t{written}\r\n", written.rstrip("="))):
        assert await media.store(f"loose-{number}", f"{head},{loose}")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("data:image/png;base64,", reasons.SOURCE_IMAGE_UNREADABLE),
        ("data:image/png;base64,not base64!", reasons.SOURCE_IMAGE_UNREADABLE),
        ("data:image/png;base64,e%3D==", reasons.SOURCE_IMAGE_UNREADABLE),
        ("data:image/png;base64,AAAAA", reasons.SOURCE_IMAGE_UNREADABLE),
        ("data:image/png," + base64.b64encode(b"x").decode(), reasons.SOURCE_IMAGE_UNREADABLE),
        ("data:text/plain;base64,eA==", reasons.SOURCE_IMAGE_UNREADABLE),
        ("ftp://example.org/a.png", reasons.SOURCE_IMAGE_URL_REFUSED),
        ("file:///etc/passwd", reasons.SOURCE_IMAGE_URL_REFUSED),
        ("horde-r2://other_chat_0.jpg", reasons.SOURCE_IMAGE_URL_REFUSED),
    ],
)
async def test_urls_of_no_image_are_refused(media: Any, url: str, reason: reasons.Reason) -> None:
    with pytest.raises(Refusal) as refused:
        await media.store("r", url)
    assert refused.value.reason is reason
    assert refused.value.facts == {"image": 0}
