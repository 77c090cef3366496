"""The images of a chat request: where they are, how many, how big, how objects are named. Chat reference, Images."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

from horde.contract import limits, reasons
from horde.contract.chat.request import Message
from horde.contract.refusal import Refusal

_MIB = 1024 * 1024

IMAGE_REFERENCE = "horde-r2://"
"""How a stored message names an image: this, then the object's key."""

JPEG_URL = "data:image/jpeg;base64,"
"""How a worker that fetches nothing is given an image: this, then the bytes of the stored JPEG."""

MESSAGES_SUFFIX = "_chat_messages.json"
"""How the key of an offloaded request's messages ends; it tells them from an image."""


def image_parts(messages: Iterable[Message]) -> Iterator[dict[str, str]]:
    """The `image_url` objects in the request's order."""
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            yield from (part["image_url"] for part in content if part["type"] == "image_url")


def count_images(messages: Iterable[Message]) -> int:
    """How many images the messages carry."""
    return sum(1 for _ in image_parts(messages))


def image_urls(messages: Iterable[Message]) -> list[str]:
    """Their URLs, in the request's order."""
    return [image["url"] for image in image_parts(messages)]


def image_paths(messages: Iterable[Message]) -> list[str]:
    """Where each image stands in the body, in the request's order: `messages[0].content[1].image_url`."""
    return [
        f"messages[{index}].content[{place}].image_url"
        for index, message in enumerate(messages)
        if isinstance(message["content"], list)
        for place, part in enumerate(message["content"])
        if part["type"] == "image_url"
    ]


@contextmanager
def naming_images(paths: Sequence[str]) -> Iterator[None]:
    """A refusal of the image of some number, the fact `image`, tells its path as `param` instead."""
    try:
        yield
    except Refusal as no:
        facts = dict(no.facts)
        number = facts.pop("image", None)
        if not isinstance(number, int):
            raise
        raise Refusal(no.reason, no.message, {**facts, "param": paths[number]}) from no


def image_key(request_id: str, position: int) -> str:
    """The object key of a request's image; `position` counts its images from 0."""
    return f"{request_id}_chat_{position}.jpg"


def messages_key(request_id: str) -> str:
    """The object key of a request's offloaded messages."""
    return f"{request_id}{MESSAGES_SUFFIX}"


def image_keys_of(messages: Iterable[Message]) -> list[str]:
    """The object keys that stored messages name, in the request's order."""
    return [url.removeprefix(IMAGE_REFERENCE) for url in image_urls(messages)]


def inlined_growth(keys: Sequence[str], sizes: Sequence[int]) -> int:
    """By how many bytes the JSON of stored messages grows when each image is inlined as its JPEG of so many bytes."""
    references = sum(len(IMAGE_REFERENCE) + len(key) for key in keys)
    return sum(len(JPEG_URL) + (size + 2) // 3 * 4 for size in sizes) - references


def with_image_urls(messages: Sequence[Message], urls: Mapping[str, str]) -> list[Message]:
    """The messages with each image's reference replaced by the URL of its key. Raises KeyError for an unknown key."""
    return [
        {**message, "content": [_shown(part, urls) for part in message["content"]]}
        if isinstance(message.get("content"), list)
        else message
        for message in messages
    ]


def _shown(part: dict[str, Any], urls: Mapping[str, str]) -> dict[str, Any]:
    if part.get("type") != "image_url":
        return part
    reference: str = part["image_url"]["url"]
    return {**part, "image_url": {**part["image_url"], "url": urls[reference.removeprefix(IMAGE_REFERENCE)]}}


def with_stored_images(messages: Iterable[Message], request_id: str) -> list[Message]:
    """The messages with every image's URL replaced by its place in the store."""
    position = 0
    replaced: list[Message] = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list) and any(part["type"] == "image_url" for part in content):
            parts = []
            for part in content:
                if part["type"] == "image_url":
                    reference = {**part["image_url"], "url": IMAGE_REFERENCE + image_key(request_id, position)}
                    parts.append({**part, "image_url": reference})
                    position += 1
                else:
                    parts.append(part)
            replaced.append({**message, "content": parts})
        else:
            replaced.append(message)
    return replaced


def decoded_size(url: str) -> int:
    """Bytes a data URL decodes to, estimated from its payload's length; 0 for a URL that has to be fetched."""
    if url[:5].lower() != "data:":
        return 0
    payload = len(url) - url.index(",") - 1
    return payload * 3 // 4 - url.count("=", -2)


def check_image_caps(messages: list[Message]) -> None:
    """What is refused before the user is known: too many images, or more than anybody may send."""
    paths = image_paths(messages)
    with naming_images(paths):
        if len(paths) > limits.MAX_CHAT_IMAGE_COUNT:
            raise Refusal(
                reasons.TOO_MANY_EXTRA_SOURCE_IMAGES,
                f"A chat request has at most {limits.MAX_CHAT_IMAGE_COUNT} images; this one has {len(paths)}.",
                {"image": limits.MAX_CHAT_IMAGE_COUNT},
            )
        check_total_size(image_urls(messages), limits.MAX_CHAT_IMAGE_TOTAL_BYTES)


def check_total_size(urls: Sequence[str], cap: int) -> None:
    """Raises SourceImageSizeExceeded when the data URLs decode to more than `cap` bytes together, or one is too big."""
    sizes = [decoded_size(url) for url in urls]
    for position, size in enumerate(sizes):
        if size > limits.MAX_CHAT_IMAGE_BYTES:
            raise Refusal(
                reasons.SOURCE_IMAGE_SIZE_EXCEEDED,
                f"Image {position} has {size} bytes; an image has at most {limits.MAX_CHAT_IMAGE_BYTES // _MIB} MiB.",
                {"image": position},
            )
    total = sum(sizes)
    if total > cap:
        raise Refusal(
            reasons.SOURCE_IMAGE_SIZE_EXCEEDED,
            f"The images have {total} bytes together; at most {cap} bytes ({cap // _MIB} MiB) are accepted.",
            {"image": next(place for place, reached in enumerate(accumulate(sizes)) if reached > cap)},
        )
