"""Images alone: what the media service takes in, one at a time and twenty in one request, and the memory that takes."""

import asyncio
import base64
import io
import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from horde.cli.bench.report import Report, cpu_seconds
from horde.cli.bench.system import System
from horde.rpc.client import Neighbour
from horde_pb.media.v1 import media_service_pb2 as pb
from horde_pb.media.v1.media_service_pb2_grpc import MediaServiceStub

if TYPE_CHECKING:
    from PIL import Image

_SIDE = 3072
_MIB = 1024 * 1024
_MOST_TOGETHER = 25 * _MIB
_DEADLINE = timedelta(seconds=60)
_FEWEST = 3
_LOOK_SECONDS = 0.02


def pictures(side: int = _SIDE) -> dict[str, bytes]:
    """What clients send, by name: the largest image as each usual format, and a photo of about a megabyte."""
    from PIL import Image

    seeded = random.Random(1)  # noqa: S311 - the same pictures each time

    def photo(side: int) -> "Image.Image":
        smooth = Image.frombytes("RGB", (24, 24), seeded.randbytes(3 * 24 * 24)).resize((side, side))
        grain = Image.frombytes("RGB", (side // 4, side // 4), seeded.randbytes(3 * (side // 4) ** 2))
        return Image.blend(smooth, grain.resize((side, side)), 0.08)

    large, small = photo(side), photo(side * 3 // 5)
    return {
        f"PNG {side}x{side}": _encoded(large.quantize(64), "PNG"),
        f"JPEG {side}x{side}": _encoded(large, "JPEG", quality=85),
        f"WebP {side}x{side}": _encoded(large, "WEBP", quality=80),
        "photo": _encoded(small, "JPEG", quality=97),
    }


class _Watch:
    """Looks now and then at how much memory a process and its children use."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.most = 0

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _look(self) -> None:
        while True:
            self.most = max(self.most, memory(self._pid))
            await asyncio.sleep(_LOOK_SECONDS)


async def measure(
    system: System, *, seconds: float, images: int = 20, kinds: Mapping[str, bytes] | None = None
) -> Report:
    """Each picture alone for a share of the time, then `images` photos in one request. The title tells memory."""
    kinds = pictures() if kinds is None else kinds
    neighbour = Neighbour(system.grpc["media"], name="media")
    calls: dict[str, list[float]] = {}
    memories: list[str] = []
    pids = {"media": system.pids["media"]}
    before, start = cpu_seconds(pids), perf_counter()
    try:
        stub = MediaServiceStub(neighbour.channel)
        store = neighbour.once(stub.StoreImages, deadline=_DEADLINE)
        delete = neighbour.once(stub.DeleteObjects, deadline=_DEADLINE)
        requests = {name: [image] for name, image in kinds.items()}
        requests[f"{images} photos in one request"] = [kinds["photo"]] * images
        for name, sent in requests.items():
            ends_at, times = perf_counter() + seconds / len(requests), calls.setdefault(name, [])
            async with _Watch(system.pids["media"]) as watch:
                while len(times) < _FEWEST or perf_counter() < ends_at:
                    ask = _ask(sent)
                    began = perf_counter()
                    keys = (await store(ask)).keys
                    times.append(perf_counter() - began)
                    await delete(pb.DeleteObjectsRequest(keys=keys))
            memories.append(f"{name} {watch.most // _MIB}")
        elapsed, after = perf_counter() - start, cpu_seconds(pids)
    finally:
        await neighbour.close()
    stored = sum(len(times) * len(requests[name]) for name, times in calls.items())
    return Report(
        title=f"media; MiB that the service and its decoders used at most: {', '.join(memories)}",
        unit="image",
        rate=stored / elapsed,
        seconds=elapsed,
        calls=calls,
        errors={},
        cpu={"media": after["media"] - before["media"]},
    )


def _ask(images: Sequence[bytes]) -> pb.StoreImagesRequest:
    urls = ["data:image/x;base64," + base64.b64encode(image).decode() for image in images]
    return pb.StoreImagesRequest(request_id=str(uuid4()), urls=urls, max_total_bytes=_MOST_TOGETHER)


def _encoded(image: "Image.Image", kind: str, **options: int) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def memory(pid: int) -> int:
    """The bytes that a process and its children use now; pages that they share count once. Linux only."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if pid in (int(entry.name), parent):
                fields = dict(line.split(":", 1) for line in (entry / "smaps_rollup").read_text().splitlines()[1:])
                total += int(fields["Pss"].split()[0]) * 1024
        except OSError:  # it ended meanwhile
            continue
    return total
