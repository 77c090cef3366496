"""The model reference from a file: read, reloaded, and kept when it cannot be read."""

import json
from pathlib import Path

from horde.reference import ReferenceSource
from horde.settings import ModelReferenceSettings


def source(path: Path) -> ReferenceSource:
    """A reference at this path."""
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
