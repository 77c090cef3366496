"""SignImages: download links that hold for a while, made without asking the store."""

from collections.abc import Sequence

from services.media.deps import Deps

LONGEST_SECONDS = 7 * 24 * 3600
"""The longest that a link signed in the v4 way may hold."""


async def sign_images(keys: Sequence[str], valid_seconds: int, deps: Deps) -> list[str]:
    """A link for each key, in order, valid for `valid_seconds`, at least one and at most a week's."""
    urls = await deps.blobs.sign(keys, valid_seconds=max(1, min(valid_seconds, LONGEST_SECONDS)))
    deps.events.signed(len(urls))
    return urls
