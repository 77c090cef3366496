"""What media tells of its business: each event is its metric and its log line, so the two cannot drift apart."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from horde.contract.reasons import Reason
from horde.telemetry import logs
from horde.telemetry.metrics import LONG_SECONDS, Counter, Gauge, Histogram

log = logs.get(__name__)

_BYTES = Counter(
    "horde_media_bytes_total", "Bytes of images: received, stored, inlined; of messages: offloaded.", ("stage",)
)
_IMAGES = Counter("horde_media_images_total", "Images: received, stored, inlined, signed.", ("stage",))
_MESSAGES = Counter("horde_media_messages_total", "Offloaded messages: stored, signed.", ("stage",))
_STORE_SECONDS = Histogram(
    "horde_media_stage_seconds", "Time of one stage for all images of a call.", ("stage",), buckets=LONG_SECONDS
)
_QUEUED = Gauge("horde_media_decode_queue_images", "Images that wait for a decoder.")
_QUEUE_SECONDS = Histogram(
    "horde_media_decode_queue_seconds", "How long an image waited for a decoder.", (), buckets=LONG_SECONDS
)
_REFUSALS = Counter("horde_media_refusals_total", "Image requests that were refused.", ("reason",))
_RETRY_SIZE = Gauge("horde_media_delete_retry_keys", "Objects whose delete is owed.")
_DELETES = Counter("horde_media_deletes_total", "Objects by what became of their delete.", ("outcome",))


class Events:
    """The business events of media."""

    def received(self, sizes: Sequence[int]) -> None:
        """Images arrived, of these sizes in bytes."""
        _IMAGES.labels("received").inc(len(sizes))
        _BYTES.labels("received").inc(sum(sizes))

    def stored(self, sizes: Sequence[int]) -> None:
        """All images of a call are stored."""
        _IMAGES.labels("stored").inc(len(sizes))
        _BYTES.labels("stored").inc(sum(sizes))

    def messages(self, stage: str, size: int) -> None:
        """Offloaded messages were stored, as an object of `size` bytes, or a link to them was made."""
        _MESSAGES.labels(stage).inc()
        _BYTES.labels("offloaded").inc(size)

    def inlined(self, sizes: Sequence[int]) -> None:
        """Images were read for a worker that takes them inline."""
        _IMAGES.labels("inlined").inc(len(sizes))
        _BYTES.labels("inlined").inc(sum(sizes))

    def signed(self, count: int) -> None:
        """Links were made."""
        _IMAGES.labels("signed").inc(count)

    @contextmanager
    def queued(self) -> Iterator[None]:
        """An image waits for a decoder while the block runs."""
        began = perf_counter()
        _QUEUED.inc()
        try:
            yield
        finally:
            _QUEUED.dec()
            _QUEUE_SECONDS.observe(perf_counter() - began)

    def took(self, stage: str, seconds: float) -> None:
        """One stage (fetch, decode, store) of one call took this long."""
        _STORE_SECONDS.labels(stage).observe(seconds)

    def refused(self, reason: Reason) -> None:
        """A call was refused."""
        _REFUSALS.labels(reason.key).inc()

    def deleted(self, count: int) -> None:
        """The store deleted objects."""
        _DELETES.labels("deleted").inc(count)

    def delete_owed(self, count: int) -> None:
        """The store did not delete objects; they are queued."""
        _DELETES.labels("queued").inc(count)
        log.warning("deletes queued", objects=count)

    def delete_lost(self, keys: Sequence[str], why: str) -> None:
        """Objects stay in the store and nothing remembers them but this line."""
        _DELETES.labels("lost").inc(len(keys))
        log.error("objects left behind", keys=list(keys), why=why)

    def retry_size(self, count: int) -> None:
        """How many deletes are owed now."""
        _RETRY_SIZE.set(count)
