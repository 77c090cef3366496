"""An image in a request is normalised, stored, and handed to a worker that sees, in the way it declared."""

import asyncio
import base64
import io
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, override
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx
import openai
import pytest
from PIL import Image

from horde.cli.admin import CreatedAccount
from horde.contract.vocabulary import chat_declaration, chat_policy
from tests.fakes.pictures import data_url, noise, picture
from tests.system.services import Services
from tests.system.volunteer import Job, Volunteer

Transport = chat_declaration.ChatImageTransport

SMALL = data_url(picture((2500, 40)))
LARGE = data_url(noise(500, kind="JPEG"))
"""Stored as a JPEG of more than the 192 KiB that 256 KiB of base64 hold."""


class Page(BaseHTTPRequestHandler):
    """A web server with one image behind a redirect."""

    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/moved" else 200)
        if self.path == "/moved":
            self.send_header("Location", "/image.png")
        self.end_headers()
        if self.path != "/moved":
            self.wfile.write(picture((30, 20)))

    @override
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    """host:port of a web server that the horde may fetch from."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def offloading(new_services: Callable[..., Services], web: str) -> Services:
    """A system that offloads large messages, gzipped."""
    return new_services(
        HORDE_CHAT_MESSAGES_OFFLOAD_ENABLED="true",
        HORDE_CHAT_MESSAGES_OFFLOAD_GZIP="true",
        HORDE_IMAGE_FETCH_ALLOWED_HOSTS=web,
        HORDE_CLEANUP_INTERVAL_SECONDS="1",
    )


@pytest.fixture(scope="module")
def owner(offloading: Services) -> CreatedAccount:
    return offloading.account("image_owner")


class Eyes:
    """What a worker does with a job: it looks at each image and says how large it is."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    def __call__(self, job: Job) -> str:
        shown = [self._opened(url) for url in _urls(job.messages)]
        return " ".join(f"{image.format} {image.width}x{image.height}" for image in shown) or "nothing"

    def _opened(self, url: str) -> Image.Image:
        self.urls.append(url)
        if url.startswith("data:image/jpeg;base64,"):
            return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
        answer = httpx.get(url, timeout=10)
        answer.raise_for_status()
        return Image.open(io.BytesIO(answer.content))


def _urls(messages: Sequence[Any]) -> list[str]:
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def seeing(services: Services, key: str, model: str, eyes: Eyes, *transports: Transport) -> Volunteer:
    return Volunteer(
        services.url,
        key,
        name=f"sees {model}",
        model=model,
        features=frozenset({chat_policy.ChatFeature.VISION}),
        transports=frozenset(transports),
        reply=eyes,
    )


def ask(services: Services, key: str, model: str, *urls: str, words: str = "How large?") -> str:
    """What an unmodified OpenAI client is answered."""
    content: Any = [{"type": "text", "text": words}, *({"type": "image_url", "image_url": {"url": u}} for u in urls)]
    with openai.OpenAI(base_url=f"{services.url}/v1", api_key=key, max_retries=0, timeout=90) as client:
        completion = client.chat.completions.create(model=model, messages=[{"role": "user", "content": content}])
    return completion.choices[0].message.content or ""


def transport_of(services: Services, model: str) -> str | None:
    """What was recorded of the one generation of this model."""

    async def read() -> str | None:
        connection = await asyncpg.connect(services.database_url)
        try:
            recorded: str | None = await connection.fetchval(
                "SELECT image_transport FROM dispatch.processing_gens WHERE model = $1", model
            )
            return recorded
        finally:
            await connection.close()

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("transports", "image", "recorded"),
    [
        ((Transport.URL,), SMALL, "url"),
        ((Transport.BASE64,), SMALL, "base64"),
        ((Transport.URL, Transport.MESSAGES_URL), SMALL, "url"),
        ((Transport.URL,), LARGE, "url"),
        ((Transport.BASE64,), LARGE, "base64"),
        ((Transport.URL, Transport.MESSAGES_URL), LARGE, "messages_url"),
        ((Transport.BASE64, Transport.MESSAGES_URL), LARGE, "messages_url"),
    ],
)
def test_an_image_reaches_a_worker_in_the_way_it_declared(
    offloading: Services, owner: CreatedAccount, transports: tuple[Transport, ...], image: str, recorded: str
) -> None:
    model = f"test/{'-'.join(transports)}-{'large' if image is LARGE else 'small'}"
    eyes = Eyes()
    with seeing(offloading, owner.api_key, model, eyes, *transports) as volunteer:
        said = ask(offloading, owner.api_key, model, image)
    assert said == ("JPEG 500x500" if image is LARGE else "JPEG 2048x33")
    assert transport_of(offloading, model) == recorded
    (url,) = eyes.urls
    if recorded == "url":
        assert int(parse_qs(urlsplit(url).query)["X-Amz-Expires"][0]) == 600
    else:
        assert url.startswith("data:image/jpeg;base64,")
    link = volunteer.popped[0]["payload"].get("messages_url")
    assert (link is not None) == (recorded == "messages_url")
    if link is not None:
        assert parse_qs(urlsplit(link).query)["X-Amz-Expires"] == ["120"]


def test_long_words_alone_are_offloaded_too(offloading: Services, owner: CreatedAccount) -> None:
    model, words = "test/Reader-7B", "~" * 300_000
    read: list[str] = []

    def reading(job: Job) -> str:
        read.append(job.messages[0]["content"][0]["text"])
        return "read"

    with Volunteer(
        offloading.url,
        owner.api_key,
        name="reads",
        model=model,
        transports=frozenset({Transport.BASE64, Transport.MESSAGES_URL}),
        reply=reading,
        context=200_000,
    ):
        assert ask(offloading, owner.api_key, model, words=words) == "read"
    assert read == [words]
    assert transport_of(offloading, model) == "messages_url"


def test_images_from_the_web_are_fetched_through_redirects(
    offloading: Services, owner: CreatedAccount, web: str
) -> None:
    model = "test/Surfer-7B"
    with seeing(offloading, owner.api_key, model, Eyes(), Transport.BASE64):
        said = ask(offloading, owner.api_key, model, SMALL, f"http://{web}/moved", f"http://{web}/image.png")
    assert said == "JPEG 2048x33 JPEG 30x20 JPEG 30x20"


def test_refused_images_are_named_and_leave_nothing(offloading: Services, owner: CreatedAccount) -> None:
    model = "test/Refuser-7B"
    submit = partial(
        httpx.post,
        f"{offloading.url}/api/v2/generate/chat/async",
        headers={"apikey": offloading.account("image_client", trusted=False).api_key},
        timeout=60,
    )
    refusals = {
        "SourceImageUnreadable": [data_url(b"no image at all")],
        "SourceImageResolutionExceeded": [data_url(picture((3073, 3072), mode="1"))],
        "SourceImageSizeExceeded": [data_url(b"\0" * (3 * 2**20)), data_url(b"\0" * (2 * 2**20 + 1))],
        "SourceImageUrlRefused": ["http://127.0.0.1:1/a.png"],
        "SourceImageUrlInvalid": ["http://no-such-host.invalid/a.png"],
        "TooManyExtraSourceImages": [SMALL] * 21,
    }
    with seeing(offloading, owner.api_key, model, Eyes(), Transport.BASE64):
        for reason, urls in refusals.items():
            parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
            answer = submit(json={"model": model, "messages": [{"role": "user", "content": parts}]})
            assert (answer.status_code, answer.json()["rc"]) == (400, reason)
        parts = [{"type": "image_url", "image_url": {"url": SMALL}}] * 3
        dry = {"model": model, "messages": [{"role": "user", "content": parts}], "horde": {"dry_run": True}}
        plain = {"model": model, "messages": [{"role": "user", "content": "[image]"}], "horde": {"dry_run": True}}
        with_images, without = (submit(json=body).json()["kudos"] for body in (dry, plain))
        assert with_images - without >= 15
    assert transport_of(offloading, model) is None
