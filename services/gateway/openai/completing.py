"""POST /v1/chat/completions, in the order of work of clients-and-front 3.3.

Everything that can be refused is refused before the first byte of an answer.
"""

import asyncio
from dataclasses import dataclass

from starlette.types import Receive, Scope, Send

from horde.contract import limits, strict_json
from horde.contract.chat import parse_chat_request
from horde.heavy import heavy
from services.gateway import bodies
from services.gateway.answers import Answer, Header, StreamCut
from services.gateway.openai import wire
from services.gateway.openai.attaching import Accepted, Leaving
from services.gateway.openai.callers import FrontCaller, front_caller, missing_key
from services.gateway.openai.chunks import packed
from services.gateway.openai.completion import Asked, completion
from services.gateway.openai.errors import ACCEPTED, REPEATABLE, SERVER, FrontError
from services.gateway.openai.following import Abandoned, Following, Patience
from services.gateway.openai.front import Front
from services.gateway.openai.reconcile import Relay
from services.gateway.openai.request import Completion, Native, translate
from services.gateway.openai.streaming import Streaming
from services.gateway.openai.watch import Watch
from services.gateway.throttle import Budget

PATH = "/chat/completions"


@dataclass(frozen=True, slots=True)
class _Call:
    """One accepted call."""

    front: Front
    scope: Scope
    wanted: Completion
    who: FrontCaller
    accepted: Accepted
    started: float


async def complete(front: Front, scope: Scope, receive: Receive, send: Send) -> None:
    """Answers one call. Raises what its error is; StreamCut when an answer has begun."""
    started = front.deps.clock.monotonic()
    who = front_caller(scope, front.deps.settings.proxy_trusted_hops)
    await front.throttle(scope, who.caller, Budget.CHAT_SUBMIT, f"/v1{PATH}")
    wanted, raw, native = await _read(front, who, scope, receive)
    leaving = asyncio.create_task(_left(receive), name="front: client")
    try:
        operation_key = who.operation_key(wanted.operation_key)
        scope[REPEATABLE] = operation_key is not None
        fingerprint = who.fingerprint(raw) if who.is_sdk and front.deps.settings.front_attach_retries else None
        accepted = await _attached(front, who, fingerprint)
        if accepted is None:
            accepted = await _queued(
                front, who, wanted.native(native, operation_key), fingerprint, repeatable=operation_key is not None
            )
        scope[ACCEPTED] = accepted.request_id
        # A stream lasts for minutes, and its body may have 36 MiB.
        del raw, native
        await _answer(_Call(front, scope, wanted, who, accepted, started), leaving, send)
    finally:
        leaving.cancel()


async def _read(front: Front, who: FrontCaller, scope: Scope, receive: Receive) -> tuple[Completion, bytes, Native]:
    """What is wanted, the body as it came, and the native one. Of two mistakes, the body's is told before the key's."""
    raw = await bodies.read(scope, receive, limits.MAX_CHAT_BODY_BYTES)
    wanted, native = translate(await heavy(strict_json.loads_object, raw), front.deps.settings.front_min_output_tokens)
    if who.caller.api_key is None:
        await heavy(parse_chat_request, wanted.native(native, None))
        raise missing_key()
    return wanted, raw, native


async def _left(receive: Receive) -> None:
    """Returns when the client closed its connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _attached(front: Front, who: FrontCaller, fingerprint: bytes | None) -> Accepted | None:
    """The request that an earlier try of this call has queued, when its client is gone."""
    if fingerprint is None or not who.is_retry:
        return None
    accepted = await front.attaching.attach(fingerprint)
    if accepted is not None:
        front.events.attached()
    return accepted


async def _queued(
    front: Front, who: FrontCaller, native: bytes, fingerprint: bytes | None, *, repeatable: bool
) -> Accepted:
    admitted = await front.deps.neighbours.admit_chat(wire.submit_request(native, who.caller))
    if not wire.is_queued(admitted):
        raise FrontError(502, SERVER, "upstream_unavailable", "The request was not queued.")
    if admitted.favours_address:
        front.deps.throttle.favour(who.caller)
    created = admitted.created.seconds or int(front.deps.clock.now().timestamp())
    return front.attaching.accept(admitted.request_id, created, fingerprint, repeatable=repeatable)


async def _answer(call: _Call, leaving: asyncio.Task[None], send: Send) -> None:
    """Follows the request and answers. A client that leaves is given up at once, or kept for when it comes back."""
    front, deps = call.front, call.front.deps
    left: Leaving = "gone"
    try:
        async with Watch(deps.neighbours, call.accepted.request_id, deps.clock) as watch:
            patience = Patience(
                deadline=call.accepted.accepted_at
                + call.who.budget(deps.settings.front_stream_budget_seconds, stream=call.wanted.stream),
                grace=deps.settings.front_grace_seconds,
                fail_fast=call.wanted.fail_fast,
            )
            following = Following(call.accepted.request_id, watch, patience, deps.neighbours, deps.clock, front.cancel)
            leaving.add_done_callback(lambda _: following.abandon())
            await following.begin()
            await (_stream if call.wanted.stream else _plain)(call, following, patience, send)
        left = "answered"
    except Abandoned:
        if not call.wanted.stream:
            raise bodies.Disconnected from None
    except (FrontError, StreamCut):
        left = "failed"
        raise
    finally:
        front.attaching.leave(call.accepted, left, keep=call.who.comes_back)


async def _plain(call: _Call, following: Following, patience: Patience, send: Send) -> None:
    while following.reply is None:
        await following.step(patience.deadline)
    standing, reply = following.standing, following.reply
    if standing is None or reply is None:
        raise AssertionError("a reply has a standing")
    answer = Answer(packed(completion(_asked(call, following), reply, standing)), headers=_headers(call))
    call.front.events.delivered(reply.finish_reason, lowered=standing.is_lowered)
    await answer(call.scope, _nothing, send)


async def _stream(call: _Call, following: Following, patience: Patience, send: Send) -> None:
    clock = call.front.deps.clock
    buffered = call.wanted.buffered or call.front.deps.settings.front_restart == "buffer"
    relay = Relay(buffered=buffered, include_reasoning=call.wanted.include_reasoning)
    streaming = Streaming(call.front, _asked(call, following), following, relay, send)
    seconds = max(0.0, patience.deadline - clock.monotonic()) + call.front.deps.settings.front_stalled_seconds
    await streaming.run(_headers(call), include_usage=call.wanted.include_usage, most_seconds=seconds)


async def _nothing() -> dict[str, str]:
    return {"type": "http.disconnect"}


def _asked(call: _Call, following: Following) -> Asked:
    known = following.standing.created if following.standing is not None else 0
    return Asked(
        request_id=call.accepted.request_id,
        created=known or call.accepted.created,
        include_reasoning=call.wanted.include_reasoning,
        prompt_characters=call.wanted.prompt_characters,
    )


def _headers(call: _Call) -> tuple[Header, ...]:
    took = call.front.deps.clock.monotonic() - call.started
    return (
        (b"x-horde-request-id", call.accepted.request_id.encode()),
        (b"openai-processing-ms", b"%d" % (took * 1000)),
        (b"x-should-retry", b"false"),
    )
