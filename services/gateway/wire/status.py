"""What the status of a text request and of a chat request have in common. base-domain 3.8."""

import orjson

from horde.contract import pricing
from horde_pb.dispatch.v1.status_pb2 import GenerationStatus, RequestStatus


def shared_fields(status: RequestStatus) -> dict[str, object]:
    """How the request stands, without its generations. Money is whole kudos."""
    return {
        "finished": status.finished,
        "processing": status.processing,
        "restarted": status.restarted,
        "waiting": status.waiting,
        "done": status.done,
        "faulted": status.faulted,
        "wait_time": status.wait_time_seconds,
        "queue_position": status.queue_position,
        "kudos": pricing.whole(status.kudos_hundredths),
        "is_possible": status.is_possible,
        "eligible_workers": status.eligible_workers,
        "eligible_worker_threads": status.eligible_worker_threads,
        "might_stall": status.might_stall,
    }


def shared_generation(one: GenerationStatus) -> dict[str, object]:
    """One stored reply."""
    return {
        "worker_id": one.worker_id,
        "worker_name": one.worker_name,
        "model": one.model,
        "state": one.state,
        "text": one.text,
        "seed": one.seed,
        "gen_metadata": orjson.Fragment(one.gen_metadata or b"[]"),
    }
