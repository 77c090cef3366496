"""The lease of a streamed generation: what it says and how long it stands. Chat reference, Streaming progress."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lease:
    """What progress must know of a generation to accept its posts without asking anybody."""

    generation_id: str
    request_id: str
    worker_id: str
    model: str
    owner_id: int
    key: str
    """SHA-256 hex of the owner's stored key hash."""
    max_bytes: int
    is_fake: bool
    started: float
    """Unix seconds of the pop."""
    job_ttl_seconds: int
    lease_cap_seconds: int
    is_trusted: bool


def fields(lease: Lease) -> dict[str, str | int]:
    """The hash of a lease. Without a model it has no such field, and neither have its entries."""
    written: dict[str, str | int] = {
        "request": lease.request_id,
        "worker": lease.worker_id,
        "owner": lease.owner_id,
        "key": lease.key,
        "max_bytes": lease.max_bytes,
        "fake": int(lease.is_fake),
        "started": repr(lease.started),
        "job_ttl": lease.job_ttl_seconds,
        "lease_cap": lease.lease_cap_seconds,
        "trusted": int(lease.is_trusted),
    }
    if lease.model:
        written["model"] = lease.model
    return written


def life_milliseconds(lease: Lease, *, now: float, grace_seconds: int) -> int:
    """How long the lease stands from `now` (Unix seconds): until the job's lease ends, and the grace after it.

    The grace covers the pass of the loop that aborts stale jobs. At least 1: Redis refuses to expire in no time.
    """
    return max(1, round((lease.started + lease.job_ttl_seconds + grace_seconds - now) * 1000))
