"""The decoders: a few processes that each take one image at a time, replaced when one crashes, hangs or swells.

A decoder works on hostile bytes with C code, so it is a process that holds nothing and whose end refuses the image it
had in hand and no other.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

from horde.contract.limits import MAX_CHAT_IMAGE_PIXELS, MAX_CHAT_IMAGE_SIDE
from horde.telemetry import logs
from services.media import decoder
from services.media.settings import MediaSettings

log = logs.get(__name__)

_MIB = 1024 * 1024

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


type Decoded = Jpeg | TooManyPixels | Unreadable


class Decoders:
    """Waits for a free decoder, oldest call first. `open` ends the processes with its block."""

    def __init__(self, settings: MediaSettings) -> None:
        self._slots = [_Slot(settings) for _ in range(settings.media_decoders)]
        # The last one that worked works next, so that a quiet service keeps one process and not all.
        self._free: asyncio.LifoQueue[_Slot] = asyncio.LifoQueue()
        for slot in self._slots:
            self._free.put_nowait(slot)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: MediaSettings) -> AsyncIterator[Self]:
        """Decoders that start when first used."""
        decoders = cls(settings)
        try:
            yield decoders
        finally:
            for slot in decoders._slots:
                await slot.end()

    async def normalise(self, image: str | bytes) -> Decoded:
        """One image, as base64 (str) or as it is (bytes), decoded and encoded anew."""
        slot = await self._free.get()
        try:
            return await slot.normalise(image)
        finally:
            self._free.put_nowait(slot)


class _Slot:
    """One decoder process at a time."""

    def __init__(self, settings: MediaSettings) -> None:
        self._seconds = settings.media_decode_seconds
        self._memory = settings.media_decoder_memory_mib * _MIB
        self._process: asyncio.subprocess.Process | None = None

    async def normalise(self, image: str | bytes) -> Decoded:
        """Asks the process. Whatever goes wrong ends it; the next image gets a new one."""
        kind, body = (decoder.BASE64, image.encode("ascii")) if isinstance(image, str) else (decoder.RAW, image)
        process = await self._running()
        done = False
        try:
            async with asyncio.timeout(self._seconds):
                outcome, answer = await _ask(process, kind, body)
            done = True
        except TimeoutError:
            log.warning("decoder too slow", seconds=self._seconds, bytes=len(body))
            return Unreadable()
        except _GONE:
            log.warning("decoder died", exit_code=await process.wait(), bytes=len(body))
            return Unreadable()
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
        return self._process


async def _ask(process: asyncio.subprocess.Process, kind: bytes, body: bytes) -> tuple[bytes, bytes]:
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError
    process.stdin.writelines((decoder.FRAME.pack(kind, len(body)), body))
    await process.stdin.drain()
    outcome, length = decoder.FRAME.unpack(await process.stdout.readexactly(decoder.FRAME.size))
    return outcome, await process.stdout.readexactly(length)
