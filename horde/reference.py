"""The text model reference, kept fresh: read from a file or a URL at the start and then hourly.

A reference that cannot be read never stops a service: the last good one stays, and a warning says why.
"""

import asyncio
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

import orjson

from horde.contract.models import ModelReference
from horde.rpc.loops import Loop
from horde.settings import ModelReferenceSettings
from horde.telemetry import logs
from horde.telemetry.metrics import Counter, Gauge

log = logs.get(__name__)

_RELOAD = timedelta(hours=1)
"""base-domain 6.2."""

_TRIES = 3
_TIMEOUT_SECONDS = 2.0
"""Per try of a URL. Few tries: the next hour tries again, and a start should not wait for a dead host."""

_MODELS = Gauge("horde_model_reference_models", "Models of the reference in use; 0: none was ever read.")
_LOADS = Counter("horde_model_reference_loads_total", "Reads of the model reference, by how they ended.", ("outcome",))


class ReferenceSource:
    """Where the reference comes from, and the last one that could be read."""

    def __init__(self, settings: ModelReferenceSettings) -> None:
        self._where = settings.text_model_reference
        self._current = ModelReference({})
        self._read_ahead = False

    @property
    def current(self) -> ModelReference:
        """The last good reference; an empty one until the first was read."""
        return self._current

    async def load(self) -> None:
        """Reads the reference once. Never raises for an unreadable one: it warns and keeps the last."""
        try:
            self._current = await asyncio.to_thread(_parsed, await self._text())
        except (OSError, ValueError, TypeError, AttributeError) as wrong:
            _LOADS.labels("unreadable").inc()
            log.warning("model reference not readable; the last one stays", where=self._where, why=str(wrong))
            return
        self._read_ahead = True
        _LOADS.labels("ok").inc()
        _MODELS.set(len(self._current))

    def loop(self) -> Loop:
        """The hourly reload. Its first run reads, unless `load` was awaited before the loop began."""
        return Loop("model_reference", _RELOAD, self._reload)

    async def _reload(self) -> None:
        if not self._read_ahead:
            await self.load()
        self._read_ahead = False

    async def _text(self) -> bytes:
        parts = urlsplit(self._where)
        if parts.scheme in {"http", "https"}:
            return await _fetched(self._where)
        path = Path(unquote(parts.path)) if parts.scheme == "file" else Path(self._where)
        return await asyncio.to_thread(path.read_bytes)


def _parsed(text: bytes) -> ModelReference:
    entries = orjson.loads(text)
    if not isinstance(entries, dict):
        raise TypeError("it is not a JSON object of models")
    return ModelReference({name: entry for name, entry in entries.items() if isinstance(entry, dict)})


async def _fetched(url: str) -> bytes:
    import httpx  # noqa: PLC0415 - a service with a file pays nothing for the HTTP client

    async with httpx.AsyncClient(timeout=_TIMEOUT_SECONDS, follow_redirects=True) as client:
        for number in range(1, _TRIES + 1):
            try:
                answer = await client.get(url)
                answer.raise_for_status()
                return answer.content
            except httpx.HTTPError as wrong:
                if number == _TRIES:
                    raise OSError(f"{type(wrong).__name__}: {wrong}") from wrong
    raise AssertionError("the last try returns or raises")
