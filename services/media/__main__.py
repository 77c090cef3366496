"""Media's composition root: settings in, a serving process out."""

import asyncio
import ctypes
import sys
from datetime import timedelta
from functools import partial

from horde.clock import SystemClock
from horde.live import Live
from horde.public_web import PublicWeb
from horde.rpc.server import Loop, Service, run, serve
from horde.settings import load
from horde.telemetry import logs
from horde_pb.media.v1.media_service_pb2_grpc import add_MediaServiceServicer_to_server
from services.media.blobs import Blobs, BlobsUnavailable
from services.media.decoding import Decoders
from services.media.deps import Deps
from services.media.events import Events
from services.media.fetching import PublicFetcher
from services.media.live import DeleteQueue
from services.media.loops.retry_deletes import retry_deletes
from services.media.servicer import MediaServicer
from services.media.settings import MediaSettings

log = logs.get(__name__)

_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of malloc.h."""

_LARGE_BYTES = 128 * 1024
"""glibc's own first threshold, which it raises as it meets larger buffers unless it was set."""


def opened(settings: MediaSettings, blobs: Blobs, decoders: Decoders, queue: DeleteQueue, events: Events) -> Deps:
    """What the handlers are given."""
    return Deps(
        blobs,
        decoders,
        PublicFetcher(PublicWeb(settings.image_fetch_allowed_hosts), at_once=settings.media_fetches),
        queue,
        events,
        SystemClock(),
        offloads=asyncio.Semaphore(settings.media_offloads),
        gzips_messages=settings.chat_messages_offload_gzip,
    )


async def _serve() -> None:
    settings = load(MediaSettings)
    logs.configure(settings, "media")
    events = Events()
    async with (
        Live.open(settings) as live,
        Blobs.open(settings) as blobs,
        Decoders.open(settings, events) as decoders,
    ):
        queue = DeleteQueue(live)
        deps = opened(settings, blobs, decoders, queue, events)
        try:
            await blobs.check()
        except BlobsUnavailable as away:
            log.warning("object store not ready", why=away.detail)
        servicer = MediaServicer(deps)
        await serve(
            Service("media", partial(add_MediaServiceServicer_to_server, servicer), "horde_pb.media.v1.MediaService"),
            settings,
            ready={"s3": blobs.check, "redis": live.ping},
            loops=[
                Loop(
                    "retry_deletes",
                    timedelta(seconds=settings.cleanup_interval_seconds),
                    partial(retry_deletes, blobs, queue, events),
                )
            ],
        )
        await deps.settle()


def _give_large_buffers_back() -> None:
    """Makes the C library return each large buffer when it is freed.

    By itself glibc keeps what it once gave out in case it is wanted again: after a request with twenty images that was
    50 MB more than it needs, and it stays. Other C libraries have no such switch and need none.
    """
    give = getattr(ctypes.CDLL(None), "mallopt", None)
    if give is not None:
        give(_MMAP_THRESHOLD, _LARGE_BYTES)


def main() -> int:
    """Runs the service; the exit code."""
    _give_large_buffers_back()
    return run(_serve())


if __name__ == "__main__":
    sys.exit(main())
