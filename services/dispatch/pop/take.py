"""The second step of a pop: the best waiting request that fits is taken off the queue, by one commit."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import batched
from uuid import UUID

from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.events import pop as events
from services.dispatch.pop.claiming import Claiming
from services.dispatch.repo import queue as repo
from services.dispatch.rules.declaration import Declaration
from services.dispatch.rules.jobs import NOTHING, Candidate, Candidates, Handout, Taken, Wanted, generation_ids
from services.dispatch.rules.matching import Fit, served_model
from services.dispatch.rules.workers import Account, Worker

_FIRST_DEPTH = 20
_DEEPER = (200, 2000)
"""How deep each read looks: at most upstream's first page, then its next, then as far as one read may go. The first
nearly always finds a job or the end of what fits; only entries that fit by everything but a rule outside the lanes lead
deeper."""

_UNTRUSTED_DEPTH = 250
"""Up to so many requests that lack nothing but their worker's trust are counted as skipped."""

_AT_ONCE = 8
"""Requests one claim may choose from: as many workers as can want the same one at a time and still each get another."""

_ATTEMPTS = 10
_PAUSE_SECONDS = 0.005
"""Ten workers can want the last jobs of one request at a time; a claim takes a few milliseconds."""


def first_depth(claiming: Claiming) -> int:
    """How deep the first read looks: as many as a claim may choose from, beside those that others here are claiming."""
    return min(_FIRST_DEPTH, _AT_ONCE + claiming.under_way)


class Taking:
    """One worker in front of the queue. `skipped` counts what it had to pass over, by reason."""

    def __init__(
        self,
        account: Account,
        worker: Worker,
        declared: Declaration,
        fit: Fit,
        now: datetime,
        *,
        claim_id: UUID | None = None,
        found: Candidates | None = None,
    ) -> None:
        """`found`: what a read of the first depth found a moment ago, if there was one."""
        self._account = account
        self._worker = worker
        self._declared = declared
        self._fit = fit
        self._now = now
        self._claim_id = claim_id
        self._found = found
        self._is_nothing = found is NOTHING
        self._considered = 0
        self._lost = 0
        self.skipped: dict[str, int] = {}

    @durations.eval_loop
    async def take(self, deps: Deps) -> tuple[Taken, Handout] | None:
        """The jobs taken and what they were taken for; None when nothing fits."""
        handout = self._handout(deps)
        for attempt in range(_ATTEMPTS):
            lost = self._lost
            taken = await self._take_once(handout, deps)
            if taken is not None:
                self._report(taken)
                return taken, handout
            if self._lost == lost:
                break
            # others held every request that fits; one of them may have jobs left
            await asyncio.sleep(_PAUSE_SECONDS * (attempt + 1))
        if not (self._fit.trusted or self._is_nothing):
            untrusted = replace(self._fit, trusted=None)
            found = await repo.find_candidates(deps.store, self._worker.id, untrusted, self._now, _UNTRUSTED_DEPTH)
            self.skipped = dict(found.skipped)
        events.nothing_found(self._considered)
        for reason, requests in self.skipped.items():
            events.skipped(reason, requests)
        return None

    async def _take_once(self, handout: Handout, deps: Deps) -> Taken | None:
        for depth in (first_depth(deps.claiming), *_DEEPER):
            found, self._found = self._found, None
            if found is None:
                found = await repo.find_candidates(deps.store, self._worker.id, self._fit, self._now, depth)
            self.skipped = dict(found.skipped)
            for page in batched(found.fitting, _AT_ONCE):
                left = deps.claiming.left(page)
                if not left:
                    continue
                # a paused worker mostly takes nothing of anybody
                with nullcontext() if self._worker.paused else deps.claiming.of(left[0]):
                    taken = await self._claim(left, handout, deps)
                if taken is not None:
                    return taken
                events.claim_lost()
                # whoever was faster has all of a request that wants one result
                self._lost += not all(candidate.is_single for candidate in left)
            if found.exhausted:
                break
        return None

    async def _claim(self, page: Sequence[Candidate], handout: Handout, deps: Deps) -> Taken | None:
        self._considered += len(page)
        expiry = self._now + timedelta(seconds=deps.settings.request_ttl_seconds)
        wanted = [self._wanted(candidate) for candidate in page]
        if not self._worker.paused:
            return await repo.claim(deps.store, wanted, handout, expiry)
        for candidate, want in zip(page, wanted, strict=True):
            is_own = candidate.user_id == self._account.id
            taken = (
                await repo.claim(deps.store, [want], handout, expiry)
                if is_own
                else await repo.trick(deps.store, want, handout)
            )
            if taken is not None:
                return taken
        return None

    def _wanted(self, candidate: Candidate) -> Wanted:
        model = served_model(self._fit, is_chat=candidate.is_chat, wanted=candidate.models, pick=random.choice)
        return Wanted(candidate.request_id, model)

    def _handout(self, deps: Deps) -> Handout:
        settings = deps.settings
        cap = (
            settings.trusted_text_job_lease_cap_seconds
            if self._account.trusted
            else settings.untrusted_text_job_lease_cap_seconds
        )
        return Handout(
            generation_ids=generation_ids(self._claim_id, self._declared.amount),
            worker_id=self._worker.id,
            now=self._now,
            job_ttl=settings.text_job_lease_seconds,
            lease_cap=max(cap, settings.text_job_lease_seconds),
            worker_trusted=self._account.trusted,
            capacity=self._fit.capacity,
            assigned_max_context_length=self._fit.chat_context,
            assigned_max_length=self._declared.chat.max_length or 0,
            image_transport=self._fit.image_transport,
            fetches_messages=self._fit.fetches_messages,
        )

    def _report(self, taken: Taken) -> None:
        events.taken(
            taken,
            self._worker,
            self._account,
            considered=self._considered,
            capacity=self._fit.capacity,
            now=self._now,
        )
