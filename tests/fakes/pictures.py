"""Images made in a test, as bytes and as data URLs."""

import base64
import io
import random
from typing import Any

from PIL import Image


def picture(size: tuple[int, int] = (64, 48), mode: str = "RGB", kind: str = "PNG", **options: Any) -> bytes:
    """A plain image of this form."""
    out = io.BytesIO()
    Image.new(mode, size, options.pop("color", 0)).save(out, kind, **options)
    return out.getvalue()


def noise(side: int, kind: str = "PNG", seed: int = 1) -> bytes:
    """An image that no encoder makes small."""
    out = io.BytesIO()
    Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(3 * side * side)).save(out, kind)
    return out.getvalue()


def data_url(image: bytes, label: str = "image/png") -> str:
    """The image as a chat client sends it."""
    return f"data:{label};base64,{base64.b64encode(image).decode()}"


def opened(image: bytes) -> Image.Image:
    """What the bytes decode to."""
    shown = Image.open(io.BytesIO(image))
    shown.load()
    return shown
