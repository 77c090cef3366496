"""The decoders: a few processes that each take one image at a time, replaced when one crashes, hangs or swells.

A decoder works on hostile bytes with C code, so it is a process that holds nothing. An image whose decoder dies is
given to one more; a second death, or a decoder that takes too long, refuses this image and no other.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

from horde.contract.limits import MAX_CHAT_IMAGE_PIXELS, MAX_CHAT_IMAGE_SIDE
from horde.telemetry import logs
from services.media import decoder
from services.media.events import Events
from services.media.settings import MediaSettings

log = logs.get(__name__)

_MIB = 1024 * 1024

_START_SECONDS = 30
"""A start takes a fifth of a second; on a machine that is busy with everything else, a hundred times as long."""

_GONE = (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError)


@dataclass(frozen=True, slots=True)
class Jpeg:
    """A normalised image."""

    data: bytes


@dataclass(frozen=True, slots=True)
class TooManyPixels:
    """The header announces too many."""

    count: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No image, a broken one, or one that broke its decoder."""


type Image = Callable[[], str | bytes]
"""Gives one image, as base64 (str) or as it is (bytes)."""

type Decoded = Jpeg | TooManyPixels | Unreadable


class DecodersBusy(Exception):
    """No decoder was free in time."""


class Decoders:
    """Waits for a free decoder, oldest call first. `open` ends the processes with its block."""

    def __init__(self, settings: MediaSettings, events: Events) -> None:
        self._patience = settings.media_decode_queue_seconds
        self._events = events
        self._slots = [_Slot(settings) for _ in range(settings.media_decoders)]
        # The last one that worked works next, so that a quiet service keeps one process and not all.
        self._free: asyncio.LifoQueue[_Slot] = asyncio.LifoQueue()
        for slot in self._slots:
            self._free.put_nowait(slot)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: MediaSettings, events: Events) -> AsyncIterator[Self]:
        """Decoders that start when first used."""
        decoders = cls(settings, events)
        try:
            yield decoders
        finally:
            for slot in decoders._slots:
                await slot.end()

    async def normalise(self, image: Image) -> Decoded:
        """One image, decoded and encoded anew. It is fetched when its turn has come. Raises DecodersBusy."""
        with self._events.queued():
            try:
                async with asyncio.timeout(self._patience):
                    slot = await self._free.get()
            except TimeoutError:
                raise DecodersBusy from None
        try:
            return await slot.normalise(image())
        finally:
            self._free.put_nowait(slot)


class _Slot:
    """One decoder process at a time."""

    def __init__(self, settings: MediaSettings) -> None:
        self._seconds = settings.media_decode_seconds
        self._memory = settings.media_decoder_memory_mib * _MIB
        self._process: asyncio.subprocess.Process | None = None

    async def normalise(self, image: str | bytes) -> Decoded:
        """Asks the process. Whatever goes wrong ends it; the next image gets a new one.

        One that has died may have died before it saw the image, so the image is given to one more.
        """
        kind, body = (decoder.BASE64, image.encode("ascii")) if isinstance(image, str) else (decoder.RAW, image)
        return await self._asked(kind, body) or await self._asked(kind, body) or Unreadable()

    async def _asked(self, kind: bytes, body: bytes) -> Decoded | None:
        """What the process says; None when it has died."""
        done = False
        try:
            process = await self._running()
            async with asyncio.timeout(self._seconds):
                outcome, answer = await _ask(process, kind, body)
            done = True
        except TimeoutError:
            log.warning("decoder too slow", seconds=self._seconds, bytes=len(body))
            return Unreadable()
        except _GONE:
            log.warning("decoder died", bytes=len(body))
            return None
        finally:
            if not done:
                await asyncio.shield(self.end())
        if outcome == decoder.JPEG:
            return Jpeg(answer)
        if outcome == decoder.TOO_LARGE:
            return TooManyPixels(answer.decode())
        log.info("image unreadable", why=answer.decode(errors="replace")[:200], bytes=len(body))
        return Unreadable()

    async def end(self) -> None:
        """Ends the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # the folder of the file holds modules named like those of libraries
                decoder.__file__,
                str(MAX_CHAT_IMAGE_PIXELS),
                str(MAX_CHAT_IMAGE_SIDE),
                str(self._memory),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            await _ready(self._process)
        return self._process


async def _ready(process: asyncio.subprocess.Process) -> None:
    if process.stdout is None:
        raise BrokenPipeError
    try:
        async with asyncio.timeout(_START_SECONDS):
            await process.stdout.readexactly(len(decoder.READY))
    except TimeoutError as late:
        raise BrokenPipeError from late


async def _ask(process: asyncio.subprocess.Process, kind: bytes, body: bytes) -> tuple[bytes, bytes]:
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError
    try:
        process.stdin.writelines((decoder.FRAME.pack(kind, len(body)), body))
    except RuntimeError as closed:  # how uvloop says that the process has ended before it was asked
        raise BrokenPipeError from closed
    await process.stdin.drain()
    outcome, length = decoder.FRAME.unpack(await process.stdout.readexactly(decoder.FRAME.size))
    return outcome, await process.stdout.readexactly(length)
