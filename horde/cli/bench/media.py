"""Images alone: what the media service takes in, one at a time and twenty in one request, and its memory."""

import base64
import io
import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
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


async def measure(
    system: System, *, seconds: float, images: int = 20, kinds: Mapping[str, bytes] | None = None
) -> Report:
    """Each picture alone for a share of the time, then `images` photos in one request; peak memory in the title."""
    kinds = pictures() if kinds is None else kinds
    neighbour = Neighbour(system.grpc["media"], name="media")
    calls: dict[str, list[float]] = {}
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
            while len(times) < _FEWEST or perf_counter() < ends_at:
                ask = _ask(sent)
                began = perf_counter()
                keys = (await store(ask)).keys
                times.append(perf_counter() - began)
                await delete(pb.DeleteObjectsRequest(keys=keys))
        elapsed, after = perf_counter() - start, cpu_seconds(pids)
    finally:
        await neighbour.close()
    stored = sum(len(times) * len(requests[name]) for name, times in calls.items())
    return Report(
        title=f"media, peak memory of the service and its decoders {peak_memory(system.pids['media']) // _MIB} MiB",
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


def peak_memory(pid: int) -> int:
    """The most bytes that a process and its children have had resident, added up. Linux only."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = dict(line.split(":", 1) for line in (entry / "status").read_text().splitlines())
        except OSError:  # it ended meanwhile
            continue
        if pid in (int(entry.name), int(fields["PPid"])) and "VmHWM" in fields:
            total += int(fields["VmHWM"].split()[0]) * 1024
    return total
