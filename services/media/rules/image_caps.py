"""How big images may be, each and together. Chat reference, Images."""

from collections.abc import Iterable
from dataclasses import dataclass

from horde.contract import reasons
from horde.contract.limits import MAX_CHAT_IMAGE_BYTES, MAX_CHAT_IMAGE_COUNT, MAX_CHAT_IMAGE_PIXELS
from horde.contract.refusal import Refusal


@dataclass(slots=True)
class RunningTotal:
    """The bytes of a request's images so far, held to `cap`."""

    cap: int
    reached: int = 0

    def add(self, size: int, number: int) -> None:
        """Counts one image of `size` bytes. Raises Refusal (SourceImageSizeExceeded) past either cap."""
        if size > MAX_CHAT_IMAGE_BYTES:
            raise Refusal(
                reasons.SOURCE_IMAGE_SIZE_EXCEEDED,
                f"Image {number} has {size} bytes; one image may have {MAX_CHAT_IMAGE_BYTES} bytes.",
                {"image": number},
            )
        self.reached += size
        if self.reached > self.cap:
            raise Refusal(
                reasons.SOURCE_IMAGE_SIZE_EXCEEDED,
                f"The images have {self.reached} bytes up to image {number};"
                f" all images of this request together may have {self.cap} bytes.",
                {"total": self.reached, "cap": self.cap, "image": number},
            )

    @property
    def left(self) -> int:
        """The most bytes the next image may have."""
        return min(MAX_CHAT_IMAGE_BYTES, self.cap - self.reached)


def check_count(count: int) -> None:
    """Raises Refusal (TooManyExtraSourceImages) for more images than any user may send."""
    if count > MAX_CHAT_IMAGE_COUNT:
        raise Refusal(
            reasons.TOO_MANY_EXTRA_SOURCE_IMAGES,
            f"A chat request may carry {MAX_CHAT_IMAGE_COUNT} images, this one carries {count}.",
        )


def check_stored_total(sizes: Iterable[int], cap: int) -> None:
    """Holds the JPEGs that would be stored to the same total. Raises Refusal (SourceImageSizeExceeded)."""
    total = sum(sizes)
    if total > cap:
        raise Refusal(
            reasons.SOURCE_IMAGE_SIZE_EXCEEDED,
            f"The encoded size of the images passed the cap: stored as JPEG they have {total} bytes;"
            f" all images of this request together may have {cap} bytes.",
            {"total": total, "cap": cap},
        )


def too_many_pixels(number: int, count: str) -> Refusal:
    """The refusal of an image whose header announces `count` pixels."""
    return Refusal(
        reasons.SOURCE_IMAGE_RESOLUTION_EXCEEDED,
        f"Image {number} has {count} pixels; an image may have {MAX_CHAT_IMAGE_PIXELS} (3072*3072) in all.",
        {"image": number},
    )


def unreadable(number: int) -> Refusal:
    """The refusal of bytes that no decoder of ours makes an image of."""
    return Refusal(reasons.SOURCE_IMAGE_UNREADABLE, f"Image {number} cannot be read as an image.", {"image": number})
