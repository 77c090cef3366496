"""The model reference from a file or a URL: read, reloaded, and kept when it cannot be read."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from horde.reference import ReferenceSource
from horde.settings import ModelReferenceSettings
from tests.fakes.http_server import serving


def source(path: Path | str) -> ReferenceSource:
    """A reference at this path or URL."""
    return ReferenceSource(ModelReferenceSettings(text_model_reference=str(path)))


async def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"a/13B": {"parameters": 13_000_000_000}, "b": {"nsfw": True}, "odd": 5}))
    reference = source(file)
    await reference.load()
    assert len(reference.current) == 2
    assert reference.current.multiplier("a/13B") == 13
    assert reference.current.any_nsfw(["b"])


async def test_an_unreadable_one_keeps_the_last(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"a": {}}))
    reference = source(file)
    await reference.load()
    for text in ("{", "[]", json.dumps({"a": {"parameters": "many"}})):
        file.write_text(text)
        await reference.load()
        assert reference.current.is_known("a")
    file.unlink()
    await reference.load()
    assert reference.current.is_known("a")


async def test_a_missing_one_is_an_empty_reference(tmp_path: Path) -> None:
    reference = source(tmp_path / "nowhere.json")
    await reference.load()
    assert not reference.current.is_known("a")


async def test_the_loop_does_not_read_again_what_was_just_read(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"a": {}}))
    reference = source(file)
    await reference.load()
    file.write_text(json.dumps({"b": {}}))
    loop = reference.loop()
    await loop.run()
    assert reference.current.is_known("a")
    await loop.run()
    assert reference.current.is_known("b")


class Published:
    """A reference on a web server: `answer` is what it answers next."""

    def __init__(self) -> None:
        self.answer: tuple[int, bytes] = (200, b"{}")
        self.asked = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        del scope, receive
        self.asked += 1
        status, body = self.answer
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body})


async def test_a_url_is_read_again_every_hour_and_the_last_good_one_stays() -> None:
    published = Published()
    async with serving(published) as url:
        published.answer = (200, json.dumps({"a/7B": {"parameters": 7_000_000_000}}).encode())
        reference = source(f"{url}/models.json")
        loop = reference.loop()
        assert loop.every == timedelta(hours=1)
        await loop.run()
        assert reference.current.multiplier("a/7B") == 7
        for answer in ((500, b"away"), (404, b""), (200, b"<html>"), (200, b"[]")):
            published.answer = answer
            await loop.run()
            assert reference.current.is_known("a/7B")
        published.answer = (200, json.dumps({"b": {"parameters": 1}}).encode())
        await loop.run()
        assert reference.current.is_known("b")
        assert not reference.current.is_known("a/7B")
    await loop.run()
    assert reference.current.is_known("b")


async def test_a_url_that_fails_is_tried_again_before_it_is_given_up() -> None:
    published = Published()
    async with serving(published) as url:
        published.answer = (503, b"")
        await source(f"{url}/models.json").load()
    assert published.asked == 3
