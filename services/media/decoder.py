"""The program in which images are decoded: hostile bytes in, a plain JPEG out, in a process of its own.

Started by `decoding.py` as a file, so it may import nothing of this tree: the standard library and Pillow only. It
speaks frames on stdin and stdout, one byte of kind, four of length, then the bytes; see `main`.
"""

import base64
import io
import re
import resource
import struct
import sys
import warnings
from typing import BinaryIO

from PIL import (
    AvifImagePlugin,
    IcoImagePlugin,
    Image,
    ImageOps,
    Jpeg2KImagePlugin,
    PcxImagePlugin,
    QoiImagePlugin,
    TgaImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

FRAME = struct.Struct(">cI")

BASE64, RAW = b"6", b"R"
"""Kinds of a question: the image as base64, or as it is."""

_SPACES = b" \t\n\f\r"

READY = b"+"
"""Said once, before the first question, so that nobody's image pays for the start."""

JPEG, TOO_LARGE, UNREADABLE = b"J", b"L", b"U"
"""Kinds of an answer: the JPEG; the announced number of pixels in text; why in text, for the log."""

FORMATS = (
    "AVIF", "BMP", "DIB", "GIF", "ICO", "JPEG", "JPEG2000", "PCX", "PNG", "PPM", "QOI", "TGA", "TIFF", "WEBP",
)  # fmt: skip
"""What is decoded. Pillow's other readers start programs (EPS), or read formats that nobody sends to a chat."""

_READERS = (
    AvifImagePlugin,
    IcoImagePlugin,
    Jpeg2KImagePlugin,
    PcxImagePlugin,
    QoiImagePlugin,
    TgaImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
"""Importing a reader makes it known to Pillow, which knows BMP, GIF, JPEG, PNG and PPM by itself. All of its readers
together would take a second to load."""

QUALITY = 90
"""Chat reference, Images."""

_NUMBER = re.compile(r"\d+")
_WHITE = (255, 255, 255)
_BYTE_STEPS = 256
_BYTE_MAX = 255


class TooLargeError(Exception):
    """The header announces more pixels than allowed. The message is their number."""


class UnreadableError(Exception):
    """These bytes are no image that we decode."""


def normalise(data: bytes, *, max_pixels: int, max_side: int) -> bytes:
    """A JPEG of quality 90: upright, RGB, white under transparency, no side above `max_side`, one frame, no metadata.

    Raises TooLargeError, before a pixel is decoded, and UnreadableError.
    """
    # The readers check what lies inside a container against this, such as the PNG inside an ICO.
    Image.MAX_IMAGE_PIXELS = max_pixels
    _check_pixels(_webp_size(data), max_pixels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            return _encoded(io.BytesIO(data), max_pixels, max_side)
        except TooLargeError:
            raise
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise TooLargeError(_announced(error)) from error
        except Exception as error:  # the readers raise whatever their format made them stumble over
            raise UnreadableError(f"{type(error).__name__}: {error}") from error


def _encoded(stream: BinaryIO, max_pixels: int, max_side: int) -> bytes:
    with Image.open(stream, formats=FORMATS) as image:
        _check_pixels(image.size, max_pixels)
        target = _fitting(image.size, max_side)
        if target != image.size:
            # A JPEG decoder can leave out the pixels that the reduction would throw away.
            image.draft(None, target)
        image.load()
        _check_pixels(image.size, max_pixels)
        ImageOps.exif_transpose(image, in_place=True)
        plain = _flattened(image)
    target = _fitting(plain.size, max_side)
    if target != plain.size:
        plain = plain.resize(target, Image.Resampling.BICUBIC)
    # A photo's place, owner and comments are nobody's business, and would be written again.
    plain.info.clear()
    jpeg = io.BytesIO()
    plain.save(jpeg, "JPEG", quality=QUALITY)
    return jpeg.getvalue()


def _announced(error: Exception) -> str:
    """The number of pixels in what Pillow says of them."""
    found = _NUMBER.search(str(error))
    return found.group() if found else "too many"


def _check_pixels(size: tuple[int, int], max_pixels: int) -> None:
    if size[0] * size[1] > max_pixels:
        raise TooLargeError(str(size[0] * size[1]))


def _fitting(size: tuple[int, int], max_side: int) -> tuple[int, int]:
    longest = max(size)
    if longest <= max_side:
        return size
    return max(1, round(size[0] * max_side / longest)), max(1, round(size[1] * max_side / longest))


def _flattened(image: Image.Image) -> Image.Image:
    """RGB, whatever the mode was."""
    if image.mode.startswith("I") or image.mode == "F":
        return _eight_bits(image).convert("RGB")
    if image.has_transparency_data:
        rgba = image if image.mode == "RGBA" else image.convert("RGBA")
        white = Image.new("RGB", rgba.size, _WHITE)
        white.paste(rgba, mask=rgba.getchannel("A"))
        return white
    return image if image.mode == "RGB" else image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """A grey image of 16 bits or more, brought to 0 to 255. Pillow's own conversion would clip it to white."""
    if image.mode.startswith("I;16"):
        return image.convert("I").point(lambda value: value * (1 / _BYTE_STEPS)).convert("L")
    low, high = (float(bound) for bound in _extrema(image))
    if low >= 0 and 1 < high <= _BYTE_MAX:
        return image.convert("L")
    scale = _BYTE_MAX / (high - low) if high > low else 0.0
    return image.convert("F").point(lambda value: value * scale - low * scale).convert("L")


def _extrema(image: Image.Image) -> tuple[float, float]:
    low, high = image.getextrema()
    if isinstance(low, tuple) or isinstance(high, tuple):
        raise UnreadableError("a grey image with several bands")
    return low, high


def _webp_size(data: bytes) -> tuple[int, int]:
    """What a WebP announces. Pillow's reader makes room for the whole canvas before it tells the size."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:  # noqa: PLR2004 - the three headers end there
        return 0, 0
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
        case _:
            return 0, 0


def _from_base64(body: bytes) -> bytes:
    """What base64 stands for. Spaces and missing padding are forgiven, and cost a copy only where they are."""
    if len(body) % 4 or any(space in body for space in _SPACES):
        body = body.translate(None, _SPACES)
        body += b"=" * (-len(body) % 4)
    return base64.b64decode(body, validate=True)


def answer(kind: bytes, body: bytes, *, max_pixels: int, max_side: int) -> tuple[bytes, bytes]:
    """The kind and the bytes of one answer."""
    try:
        data = _from_base64(body) if kind == BASE64 else body
        return JPEG, normalise(data, max_pixels=max_pixels, max_side=max_side)
    except TooLargeError as error:
        return TOO_LARGE, str(error).encode()
    except (UnreadableError, ValueError) as error:
        return UNREADABLE, str(error).encode(errors="replace")


def main() -> None:
    """Answers until stdin ends. Arguments: most pixels, longest side, address space in bytes."""
    max_pixels, max_side, memory = (int(argument) for argument in sys.argv[1:4])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is expected now and then and leaves nothing behind
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    answers.write(READY)
    answers.flush()
    while len(head := questions.read(FRAME.size)) == FRAME.size:
        kind, length = FRAME.unpack(head)
        outcome, body = answer(kind, questions.read(length), max_pixels=max_pixels, max_side=max_side)
        answers.write(FRAME.pack(outcome, len(body)))
        answers.write(body)
        answers.flush()


if __name__ == "__main__":
    main()
