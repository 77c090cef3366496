"""Leases, streams and signals in Redis, in words of the domain. Every method raises LiveUnavailable in an outage."""

from collections.abc import Sequence

from redis.exceptions import NoScriptError

from horde.contract import limits
from horde.live import Live, Script
from horde.settings import LeaseSettings, ProgressSettings
from services.progress.live.keys import LEASE, SIGNALS, STREAM, WAKE
from services.progress.live.together import Together, Word
from services.progress.rules import feed, leases
from services.progress.rules.deltas import Delta, Outcome, Renewal, Verdict

PACKAGE = "services.progress"


class Leases:
    """What may be posted, what was, and who is told."""

    def __init__(self, live: Live, lease: LeaseSettings, progress: ProgressSettings) -> None:
        self._live = live
        self._base = lease.text_job_lease_seconds
        self._grace = progress.chat_progress_lease_grace_seconds
        self._stream_life = progress.chat_progress_stream_ttl_seconds
        self._together = Together(live)
        self._open = Script(live, PACKAGE, "open_lease")
        self._append = Script(live, PACKAGE, "append_progress")
        self._close = Script(live, PACKAGE, "close_lease")
        self._cancel = Script(live, PACKAGE, "cancel_leases")
        self._stream_prefix = STREAM(request="")
        self._wake_prefix = WAKE(request="")

    async def open(self, lease: leases.Lease, *, now: float) -> None:
        """Lets a generation post. `now` in Unix seconds, here and below."""
        written = [part for pair in leases.fields(lease).items() for part in pair]
        life = leases.life_milliseconds(lease, now=now, grace_seconds=self._grace)
        await self._open(keys=[LEASE(generation=lease.generation_id)], args=[life, *written])

    async def append(self, delta: Delta, *, key: str, now: float) -> Verdict:
        """Judges a post and, when it is accepted, appends it; all in one move."""
        keys = [LEASE(generation=delta.generation_id)]
        args: list[Word] = [
            key,
            delta.generation_id,
            delta.seq,
            delta.content,
            delta.reasoning_content,
            f"{now:.6f}",
            self._base,
            self._grace,
            limits.MAX_CHAT_PROGRESS_ENTRIES,
            self._stream_prefix,
            self._stream_life,
            limits.CHAT_PROGRESS_STREAM_MAX_ENTRIES,
            self._wake_prefix,
        ]
        try:
            answer = await self._together.ask(*self._append.words(keys=keys, args=args), told="script append_progress")
        except NoScriptError:
            # Redis was restarted, or never saw it: called by itself, the script teaches itself.
            answer = await self._append(keys=keys, args=args)
        outcome = Outcome(answer[0].decode())
        match answer[1:]:
            case [int(seq), int(cancelled), bytes(renewal), int(job_ttl), int(trusted)]:
                return Verdict(outcome, seq, cancelled == 1, Renewal(renewal.decode()), job_ttl, trusted == 1)
            case [int(seq), int(cancelled)]:
                return Verdict(outcome, seq, cancelled == 1)
            case [int(seq)]:
                return Verdict(outcome, seq)
        return Verdict(outcome)

    async def close(self, generation_id: str, request_id: str, *, has_faulted: bool) -> None:
        """Ends a generation's posts; watchers are told when it faulted."""
        await self._close(
            keys=[LEASE(generation=generation_id), STREAM(request=request_id)],
            args=[
                int(has_faulted),
                generation_id,
                self._stream_life,
                limits.CHAT_PROGRESS_STREAM_MAX_ENTRIES,
                WAKE(request=request_id),
            ],
        )

    async def cancel(self, request_id: str, generation_ids: Sequence[str]) -> None:
        """Flags the leases that still exist and ends their streams."""
        await self._cancel(
            keys=[STREAM(request=request_id), *(LEASE(generation=one) for one in generation_ids)],
            args=[
                self._stream_life,
                limits.CHAT_PROGRESS_STREAM_MAX_ENTRIES,
                WAKE(request=request_id),
                *generation_ids,
            ],
        )

    async def posted(self, request_id: str, generation_ids: Sequence[str]) -> list[feed.Posted]:
        """What each generation posted so far."""
        with self._live.guard("XRANGE HMGET") as redis:
            async with redis.pipeline(transaction=True) as together:
                together.xrange(STREAM(request=request_id))
                for one in generation_ids:
                    together.hmget(LEASE(generation=one), "request", "seq", "bytes")
                entries, *found = await together.execute()
        accepted = {
            one: (int(seq or 0), int(size or 0))
            for one, (request, seq, size) in zip(generation_ids, found, strict=True)
            if request is not None
        }
        return feed.posted(generation_ids, accepted, [feed.read_entry(entry) for _, entry in entries])

    async def publish(self, request_id: str, signals: Sequence[feed.Signal]) -> None:
        """Publishes the signals in their order."""
        channel = SIGNALS(request=request_id)
        with self._live.guard("PUBLISH") as redis:
            async with redis.pipeline(transaction=False) as together:
                for signal in signals:
                    together.publish(channel, feed.write_signal(request_id, signal))
                await together.execute()
