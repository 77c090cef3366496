"""What an image part's URL says: a data URL whose bytes we have, or an address to fetch. Chat reference, Images."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from horde.contract import reasons
from horde.contract.refusal import Refusal

_DATA_URL = re.compile(r"data:image/[a-z0-9!#$&^_.+-]+(?:;[a-z0-9_.+-]+=[^;,\"]*)*;base64,", re.IGNORECASE)
"""The label says only "some image"; what it really is, its bytes say."""

SPACES = " \t\n\f\r"
"""May stand anywhere in base64, and its padding may be missing: browsers and mail take it so (WHATWG Infra, 8)."""

_WEB_URL = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImagesAsk:
    """`urls` in the order of the request; `max_total_bytes` for all of them, as sent and again as stored.

    Each look at one of the `urls` may make it anew: 33 MB of letters are kept once, as they came.
    """

    request_id: str
    urls: Sequence[str]
    max_total_bytes: int


@dataclass(frozen=True, slots=True)
class DataSource:
    """What claims to be base64: where in its URL it starts, and how many bytes it is then.

    Its alphabet is checked where it is decoded: reading 33 MB of letters here would hold up every other call.
    """

    start: int
    size: int


@dataclass(frozen=True, slots=True)
class WebSource:
    """An address that may be fetched once it was found to be public."""

    url: str


type Source = DataSource | WebSource


def read_source(url: str, number: int) -> Source:
    """The source that `url`, the image counted `number` from 0, names.

    Raises Refusal: SourceImageUnreadable for a data URL that is no base64 image, SourceImageUrlRefused for any other
    scheme.
    """
    if _WEB_URL.match(url):
        return WebSource(url)
    if not url[:5].lower() == "data:":
        raise Refusal(
            reasons.SOURCE_IMAGE_URL_REFUSED,
            f"Image {number}: only data:image/...;base64, and http(s) URLs are accepted.",
            {"image": number},
        )
    head = _DATA_URL.match(url)
    if head is None:
        raise Refusal(
            reasons.SOURCE_IMAGE_UNREADABLE,
            f"Image {number}: the data URL does not begin with data:image/...;base64,.",
            {"image": number},
        )
    payload = url[head.end() :]
    if not payload or not payload.isascii():
        raise Refusal(
            reasons.SOURCE_IMAGE_UNREADABLE,
            f"Image {number}: the data URL does not hold valid base64.",
            {"image": number},
        )
    letters = len(payload) - sum(map(payload.count, f"{SPACES}="))
    return DataSource(head.end(), letters * 3 // 4)
