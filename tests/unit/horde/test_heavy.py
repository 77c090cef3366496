"""Big bodies are read beside the event loop, small ones where they arrive."""

import threading

import pytest

from horde.heavy import BIG_BYTES, heavy


def reading_thread(body: bytes) -> int:
    """The thread that reads."""
    del body
    return threading.get_ident()


async def test_only_a_big_body_is_read_in_a_thread() -> None:
    here = threading.get_ident()
    assert await heavy(reading_thread, b"x" * BIG_BYTES) == here
    assert await heavy(reading_thread, b"x" * (BIG_BYTES + 1)) != here


async def test_what_the_reader_raises_is_raised() -> None:
    def refuse(body: bytes) -> None:
        raise ValueError(len(body))

    with pytest.raises(ValueError, match=str(BIG_BYTES + 1)):
        await heavy(refuse, b"x" * (BIG_BYTES + 1))
