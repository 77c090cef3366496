"""The decoder: what comes out of pictures of every kind, and what is refused of them."""

import io
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from horde.contract.limits import MAX_CHAT_IMAGE_PIXELS, MAX_CHAT_IMAGE_SIDE
from services.media import decoder
from services.media.decoder import TooLargeError, UnreadableError
from tests.fakes.pictures import noise, opened, picture


@pytest.fixture(autouse=True, scope="module")
def limits_of_its_process() -> Iterator[None]:
    """A decoder sets Pillow's limit for its whole process; here that is the process of all tests."""
    before = Image.MAX_IMAGE_PIXELS
    yield
    Image.MAX_IMAGE_PIXELS = before


def normalised(data: bytes, **changed: int) -> Image.Image:
    limits = {"max_pixels": MAX_CHAT_IMAGE_PIXELS, "max_side": MAX_CHAT_IMAGE_SIDE, **changed}
    return opened(decoder.normalise(data, **limits))


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("PNG", "RGB"), ("PNG", "RGBA"), ("PNG", "P"), ("PNG", "L"), ("PNG", "LA"), ("PNG", "1"), ("PNG", "I;16"),
        ("JPEG", "RGB"), ("JPEG", "L"), ("JPEG", "CMYK"), ("GIF", "P"), ("WEBP", "RGB"),
        ("WEBP", "RGBA"), ("AVIF", "RGB"),        ("TIFF", "CMYK"), ("TIFF", "F"), ("TIFF", "I"), ("TIFF", "LAB"),
        ("BMP", "RGB"), ("QOI", "RGB"),
        ("TGA", "RGBA"), ("JPEG2000", "RGB"), ("PPM", "RGB"), ("PCX", "RGB"),
    ],
)  # fmt: skip
def test_every_kind_of_image_becomes_an_rgb_jpeg_of_its_size(kind: str, mode: str) -> None:
    image = normalised(picture((70, 50), mode, kind))
    assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (70, 50))


@pytest.mark.parametrize(
    ("size", "fitted"), [((4096, 1024), (2048, 512)), ((100, 3000), (68, 2048)), ((2048, 1), (2048, 1))]
)
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_the_longest_side_is_reduced_to_2048(kind: str, size: tuple[int, int], fitted: tuple[int, int]) -> None:
    assert normalised(picture(size, kind=kind)).size == fitted


def test_transparency_lies_on_white() -> None:
    half = normalised(picture(mode="RGBA", color=(255, 0, 0, 0)))
    assert half.getpixel((5, 5)) == (255, 255, 255)
    palette = io.BytesIO()
    Image.new("P", (8, 8), 3).save(palette, "GIF", transparency=3)
    assert normalised(palette.getvalue()).getpixel((4, 4)) == (255, 255, 255)


def test_the_camera_s_orientation_is_applied() -> None:
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (60, 20)).save(out, "JPEG", exif=exif)
    turned = normalised(out.getvalue())
    assert turned.size == (20, 60)
    assert not turned.getexif()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_each_orientation_is_turned_as_the_camera_says(orientation: int) -> None:
    out, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = orientation
    corner = Image.new("RGB", (64, 32), (255, 255, 255))
    corner.paste((255, 0, 0), (0, 0, 16, 16))
    corner.save(out, "JPEG", exif=exif, quality=95)
    upright = normalised(out.getvalue())
    place = {1: (8, 8), 2: (56, 8), 3: (56, 24), 4: (8, 24), 5: (8, 8), 6: (24, 8), 7: (24, 56), 8: (8, 56)}
    assert upright.size == ((64, 32) if orientation < 5 else (32, 64))
    red, green, _ = _pixel(upright, place[orientation])
    assert (red > 200, green < 80) == (True, True)


def test_nothing_of_a_photo_s_metadata_is_kept() -> None:
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x010F] = "a camera"
    Image.new("RGB", (60, 20)).save(
        out, "JPEG", exif=exif, comment=b"a comment", icc_profile=b"a profile", xmp=b"where it was"
    )
    kept = normalised(out.getvalue())
    assert set(kept.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    assert not kept.getexif()


def test_of_an_animation_the_first_frame_is_taken() -> None:
    for kind in ("GIF", "WEBP", "PNG"):
        out = io.BytesIO()
        frames = [Image.new("RGB", (8, 8), color) for color in ((255, 0, 0), (0, 255, 0))]
        frames[0].save(out, kind, save_all=True, append_images=frames[1:])
        red, green, _ = _pixel(normalised(out.getvalue()))
        assert red > 200
        assert green < 60


def test_sixteen_bit_grey_keeps_its_middle() -> None:
    grey, *_ = _pixel(normalised(picture(mode="I;16", color=32768)))
    assert 120 <= grey <= 136


def test_exactly_the_most_pixels_are_accepted_and_one_more_is_not() -> None:
    assert normalised(picture((10, 10)), max_pixels=100).size == (10, 10)
    with pytest.raises(TooLargeError, match="110"):
        normalised(picture((11, 10)), max_pixels=100)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP", "AVIF", "JPEG2000", "QOI"])
def test_too_many_pixels_are_seen_in_the_header_of_every_kind(kind: str) -> None:
    with pytest.raises(TooLargeError):
        normalised(picture((64, 64), kind=kind), max_pixels=64 * 64 - 1)


def test_a_bomb_s_header_is_enough_to_refuse_it() -> None:
    png = bytearray(picture())
    png[16:24] = struct.pack(">II", 60_000, 60_000)
    png[29:33] = struct.pack(">I", __import__("zlib").crc32(png[12:29]))
    with pytest.raises(TooLargeError):
        normalised(bytes(png))
    with pytest.raises(TooLargeError):
        normalised(b"RIFF\x00\x01\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00" + b"\xff\x3f\x00" * 2 + b"\0" * 20)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"])
def test_a_truncated_file_is_unreadable(kind: str) -> None:
    data = noise(64, kind) if kind != "GIF" else picture((300, 300), "P", "GIF")
    with pytest.raises(UnreadableError):
        normalised(data[: len(data) // 2])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        b"hello" * 99,
    ],
)
def test_what_is_no_image_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        normalised(data)


@given(st.sampled_from(["PNG", "GIF", "WEBP", "TIFF", "BMP", "JPEG", "QOI", "AVIF"]), st.data())
@settings(max_examples=60, deadline=None)
def test_a_damaged_file_is_an_image_or_a_refusal_and_nothing_else(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(picture((16, 16), kind=kind))
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    outcome, _ = decoder.answer(decoder.RAW, bytes(damaged), max_pixels=10_000, max_side=100)
    assert outcome in (decoder.JPEG, decoder.TOO_LARGE, decoder.UNREADABLE)


def test_the_program_answers_one_question_after_the_other() -> None:
    questions = b"".join(
        decoder.FRAME.pack(kind, len(body)) + body
        for kind, body in [(decoder.RAW, picture()), (decoder.BASE64, b"####"), (decoder.RAW, picture((99, 99)))]
    )
    program = [sys.executable, "-P", decoder.__file__, "9000", "2048", str(2**30)]
    answers = io.BytesIO(subprocess.run(program, input=questions, capture_output=True, check=True).stdout)
    assert answers.read(1) == decoder.READY
    assert [_read(answers)[0] for _ in range(3)] == [decoder.JPEG, decoder.UNREADABLE, decoder.TOO_LARGE]


def test_an_image_that_needs_more_memory_than_allowed_is_unreadable_and_the_next_one_is_not() -> None:
    wide = picture((20_000, 20_000), "1")
    questions = b"".join(decoder.FRAME.pack(decoder.RAW, len(body)) + body for body in (wide, picture()))
    program = [sys.executable, "-P", decoder.__file__, str(10**9), "2048", str(400 * 2**20)]
    answers = io.BytesIO(subprocess.run(program, input=questions, capture_output=True, check=True).stdout)
    assert answers.read(1) == decoder.READY
    assert [_read(answers)[0] for _ in range(2)] == [decoder.UNREADABLE, decoder.JPEG]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_file_that_ends_too_early_never_becomes_half_an_image(kind: str) -> None:
    whole = noise(24, kind)
    outcomes = {
        decoder.answer(decoder.RAW, whole[:length], max_pixels=10_000, max_side=100)[0]
        for length in range(0, len(whole) * 9 // 10, 7)
    }
    assert outcomes == {decoder.UNREADABLE}


@pytest.mark.parametrize(
    "text", [b"eA==eA==", b"e-_=", b"eA =", b"eA=\n", b"eA", b"=eA=", b"e===", "\u00e4\u00e4".encode()]
)
def test_loose_base64_is_unreadable(text: bytes) -> None:
    assert decoder.answer(decoder.BASE64, text, max_pixels=100, max_side=100)[0] == decoder.UNREADABLE


def _read(answers: io.BytesIO) -> tuple[bytes, bytes]:
    outcome, length = decoder.FRAME.unpack(answers.read(decoder.FRAME.size))
    return outcome, answers.read(length)


def _pixel(image: Image.Image, place: tuple[int, int] = (4, 4)) -> tuple[Any, ...]:
    pixel = image.getpixel(place)
    assert isinstance(pixel, tuple)
    return pixel
