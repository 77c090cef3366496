"""Fetching an image that a user's URL names: from public addresses only, in bounded redirects, time and memory."""

import asyncio
from contextlib import aclosing

import httpx

from horde.contract import reasons
from horde.contract.limits import IMAGE_FETCH_SECONDS, IMAGE_FETCH_STEP_SECONDS, MAX_IMAGE_REDIRECTS
from horde.contract.refusal import Refusal
from horde.public_web import NO_ANSWER, NotAskedError, PublicWeb, public_url

_OK = 200
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS = ((b"Accept", b"image/*"), (b"Accept-Encoding", b"identity"))


class PublicFetcher:
    """Gets images by URL. One for the process; each fetch has connections of its own."""

    def __init__(self, web: PublicWeb, *, at_once: int) -> None:
        """`at_once`: fetches that run side by side; others wait for their turn."""
        self._web = web
        self._turns = asyncio.Semaphore(at_once)

    async def fetch_public_image(self, url: str, number: int, *, max_bytes: int) -> bytes:
        """The body of a 200 answer, cut one byte above `max_bytes`; `number` is the image's, for messages.

        Raises Refusal: SourceImageUrlRefused for an address that may not be asked, SourceImageUrlInvalid for one that
        does not answer with an image in time.
        """
        async with self._turns:
            try:
                async with asyncio.timeout(IMAGE_FETCH_SECONDS):
                    return await self._follow(url, number, max_bytes)
            except NotAskedError as error:
                raise Refusal(
                    reasons.SOURCE_IMAGE_URL_REFUSED,
                    f"Image {number}: the URL is not fetched: {error}.",
                    {"image": number},
                ) from error
            except NO_ANSWER as error:
                raise _invalid(number, "it did not answer properly in time") from error

    async def _follow(self, url: str, number: int, max_bytes: int) -> bytes:
        target = public_url(url)
        for _ in range(MAX_IMAGE_REDIRECTS + 1):
            answer = await self._get(target, max_bytes)
            if isinstance(answer, bytes):
                return answer
            status, location = answer
            if status not in _REDIRECTS or location is None:
                raise _invalid(number, f"it answered with status {status}")
            target = public_url(location, relative_to=target)
        raise _invalid(number, f"it redirected more than {MAX_IMAGE_REDIRECTS} times")

    async def _get(self, url: httpx.URL, max_bytes: int) -> bytes | tuple[int, str | None]:
        """The body of a 200, or the status and the Location of anything else."""
        async with self._web.ask("GET", url, _HEADERS, step_seconds=IMAGE_FETCH_STEP_SECONDS) as answer:
            if answer.status != _OK:
                headers = {name.lower(): value for name, value in answer.headers}
                location = headers.get(b"location")
                return answer.status, None if location is None else location.decode("latin-1")
            body = bytearray()
            async with aclosing(answer.aiter_stream()) as chunks:  # type: ignore[type-var]  # httpcore types it without aclose, which it has
                async for chunk in chunks:
                    body += chunk
                    if len(body) > max_bytes:
                        break
            return bytes(body[: max_bytes + 1])


def _invalid(number: int, why: str) -> Refusal:
    return Refusal(
        reasons.SOURCE_IMAGE_URL_INVALID, f"Image {number}: the URL cannot be fetched: {why}.", {"image": number}
    )
