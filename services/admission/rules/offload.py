"""Whether messages are stored as an object that a worker may fetch. Chat reference, Messages offload."""

from collections.abc import Sequence

from horde.contract.chat.images import inlined_growth


def may_offload(messages: bytes, images: int, *, threshold: int | None) -> bool:
    """Whether an object may come to be: `messages` as stored, `threshold` in bytes, None when nothing is offloaded.

    With images only their stored sizes can tell, and the row has to name the object before it is stored.
    """
    return threshold is not None and (images > 0 or len(messages) > threshold)


def is_offloaded(messages: bytes, keys: Sequence[str], sizes: Sequence[int], *, threshold: int) -> bool:
    """Whether the messages, each image inlined as its stored JPEG of so many bytes, are larger than the threshold."""
    return len(messages) + inlined_growth(keys, sizes) > threshold
