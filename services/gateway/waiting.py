"""Answers that wait, for a job or for a change. A wait ends when its caller is gone, or when this process leaves."""

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, cast

from starlette.types import Receive

from horde.contract.refusal import Refusal
from horde.failures import Outage
from horde.telemetry import logs
from horde_pb.dispatch.v1.dispatch_service_pb2 import (
    ClaimJobsRequest,
    ClaimJobsResponse,
    GetStatusRequest,
)
from horde_pb.dispatch.v1.status_pb2 import RequestStatus
from horde_pb.dispatch.v1.worker_routes_pb2 import GiveJobsBackRequest
from horde_pb.progress.v1.progress_service_pb2 import WatchRequestRequest, WatchRequestResponse
from services.gateway.bodies import Disconnected
from services.gateway.deps import GatewayDeps
from services.gateway.endpoints import Exchange

log = logs.get(__name__)

_LOOK_SECONDS = 2.0
"""How often a status is looked at that nobody tells of: that a job was handed out is no event of the request."""


async def jobs(deps: GatewayDeps, ask: Exchange, message: ClaimJobsRequest) -> ClaimJobsResponse:
    """The jobs that a worker waits for; none when this process leaves.

    Raises Disconnected when the worker is gone. What a wait that was broken off was to be given waits for others again.
    """
    message.claim_id = str(uuid.uuid4())
    claim = asyncio.ensure_future(deps.neighbours.wait_for_jobs(message))
    is_gone = await _attended(claim, deps, ask.receive)
    if not claim.done():
        claim.cancel()
    ended = (await asyncio.gather(claim, return_exceptions=True))[0]
    is_broken_off = isinstance(ended, asyncio.CancelledError)
    if is_gone or is_broken_off:
        # Whatever the call came to: its answer may have been on its way.
        await _give_back(deps, message)
    if is_gone:
        raise Disconnected
    if is_broken_off:
        return ClaimJobsResponse()
    if isinstance(ended, BaseException):
        raise ended
    return ended


async def _give_back(deps: GatewayDeps, claimed: ClaimJobsRequest) -> None:
    try:
        await deps.neighbours.give_jobs_back(GiveJobsBackRequest(caller=claimed.caller, claim_id=claimed.claim_id))
    except (Outage, Refusal) as away:
        log.warning("jobs not given back; their leases lapse", why=str(away))


async def changed_status(deps: GatewayDeps, ask: Exchange, message: GetStatusRequest, seconds: float) -> RequestStatus:
    """The status as soon as it is another than now, or after so many seconds. Raises Disconnected, Refusal."""
    first = await _status(deps, message)
    if first.done or seconds <= 0:
        return first
    changing = asyncio.ensure_future(_changed(deps, message, first, seconds))
    is_gone = await _attended(changing, deps, ask.receive)
    if is_gone:
        changing.cancel()
        raise Disconnected
    if changing.done():
        return changing.result()
    changing.cancel()
    return await _status(deps, message)


async def _attended(work: "asyncio.Future[Any]", deps: GatewayDeps, receive: Receive) -> bool:
    """Waits until the work is done, the caller is gone (True) or this process leaves."""
    gone = asyncio.create_task(_gone(receive))
    stopping = asyncio.create_task(deps.stopping.wait())
    try:
        await asyncio.wait([work, gone, stopping], return_when=asyncio.FIRST_COMPLETED)
        return gone.done()
    except asyncio.CancelledError:
        work.cancel()
        raise
    finally:
        gone.cancel()
        stopping.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _status(deps: GatewayDeps, message: GetStatusRequest) -> RequestStatus:
    return (await deps.neighbours.get_status(message)).status


async def _changed(deps: GatewayDeps, message: GetStatusRequest, first: RequestStatus, seconds: float) -> RequestStatus:
    """Looks when the request's events tell of something, and now and then."""
    told = asyncio.Event()
    listening = asyncio.create_task(_listen(deps, message.request_id, told))
    ends_at = deps.clock.monotonic() + seconds
    try:
        while True:
            left = ends_at - deps.clock.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(max(left, 0.0), _LOOK_SECONDS)):
                    await told.wait()
            told.clear()
            now = await _status(deps, message)
            if _stands(now) != _stands(first) or deps.clock.monotonic() >= ends_at:
                return now
    finally:
        listening.cancel()


async def _listen(deps: GatewayDeps, request_id: str, told: asyncio.Event) -> None:
    """Sets `told` when listening began, as a change may have been missed, at signals, and at a reply's first piece.

    Where it fails, the status is looked at now and then all the same.
    """
    ask = WatchRequestRequest(request_id=request_id)
    is_running = False
    try:
        opened = cast("AsyncGenerator[WatchRequestResponse]", deps.neighbours.watch_request(ask))
        async with aclosing(opened) as messages:
            async for message in messages:
                if message.WhichOneof("event") != "delta" or not is_running:
                    told.set()
                is_running = is_running or message.HasField("delta")
    except (Outage, Refusal) as away:
        log.info("changes not heard", why=str(away))
    except Exception:
        log.exception("fault", what="status: changes")


def _stands(status: RequestStatus) -> tuple[object, ...]:
    """What counts as a change; waiting times and places in the queue move all the time."""
    return (
        status.finished,
        status.processing,
        status.restarted,
        status.waiting,
        status.done,
        status.faulted,
        status.cancelled,
        status.is_possible,
    )
