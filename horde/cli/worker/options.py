"""What the operator of a worker decides."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """The flags of `horde worker run`. None: find out from the backend."""

    url: str
    api_key: str
    backend: str
    model: str
    name: str
    backend_key: str | None = None
    backend_model: str | None = None
    threads: int | None = None
    max_length: int | None = None
    max_context_length: int | None = None
    features: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    is_overflow_refused: bool | None = None
    is_plain_sampling: bool = False
    is_once: bool = False
    progress_every: timedelta = timedelta(seconds=0.5)
    grace: timedelta = timedelta(seconds=20)


def api_root(url: str) -> str:
    """The root of the native API for what the operator wrote: a host, `…/api` or `…/api/v2`."""
    url = url.rstrip("/")
    if url.endswith("/v2"):
        return url
    return f"{url}/v2" if url.endswith("/api") else f"{url}/api/v2"


def backend_root(url: str) -> str:
    """The server's root: `…/v1` is added where it belongs, so it may be written or not."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")
