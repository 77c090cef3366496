"""The second step of a pop: the best waiting request that fits is taken off the queue, by one commit."""

import random
import uuid
from datetime import datetime, timedelta

from services.dispatch.deps import Deps
from services.dispatch.events import pop as events
from services.dispatch.repo import queue as repo
from services.dispatch.rules.declaration import Declaration
from services.dispatch.rules.jobs import Candidate, Handout, Taken
from services.dispatch.rules.matching import Fit, served_model
from services.dispatch.rules.workers import Account, Worker

_DEPTHS = (20, 200, 2000)
"""How deep each read looks: upstream's first page and its next, then as far as one read may go. The first nearly always
finds a job or the end of what fits; only entries that fit by everything but a rule outside the lanes lead deeper."""


class Taking:
    """One worker in front of the queue. `skipped` counts what it had to pass over, by reason."""

    def __init__(self, account: Account, worker: Worker, declared: Declaration, fit: Fit, now: datetime) -> None:
        self._account = account
        self._worker = worker
        self._declared = declared
        self._fit = fit
        self._now = now
        self._considered = 0
        self.skipped: dict[str, int] = {}

    async def take(self, deps: Deps) -> tuple[Taken, Handout] | None:
        """The jobs taken and what they were taken for; None when nothing fits."""
        for depth in _DEPTHS:
            found = await repo.find_candidates(deps.store, self._worker.id, self._fit, self._now, depth)
            self.skipped = dict(found.skipped)
            for candidate in found.fitting:
                self._considered += 1
                handout = self._handout(candidate, deps)
                taken = await self._claim(candidate, handout, deps)
                if taken is not None:
                    self._report(taken)
                    return taken, handout
                events.claim_lost()
            if found.exhausted:
                break
        events.nothing_found(self._considered)
        for reason, requests in self.skipped.items():
            events.skipped(reason, requests)
        return None

    async def _claim(self, candidate: Candidate, handout: Handout, deps: Deps) -> Taken | None:
        if self._worker.paused and candidate.user_id != self._account.id:
            return await repo.trick(deps.store, candidate.request_id, handout)
        expiry = self._now + timedelta(seconds=deps.settings.request_ttl_seconds)
        return await repo.claim(deps.store, candidate.request_id, handout, expiry)

    def _handout(self, candidate: Candidate, deps: Deps) -> Handout:
        settings = deps.settings
        cap = (
            settings.trusted_text_job_lease_cap_seconds
            if self._account.trusted
            else settings.untrusted_text_job_lease_cap_seconds
        )
        return Handout(
            generation_ids=[uuid.uuid4() for _ in range(self._declared.amount)],
            worker_id=self._worker.id,
            model=served_model(self._fit, is_chat=candidate.is_chat, wanted=candidate.models, pick=random.choice),
            now=self._now,
            job_ttl=settings.text_job_lease_seconds,
            lease_cap=max(cap, settings.text_job_lease_seconds),
            worker_trusted=self._account.trusted,
            capacity=self._fit.capacity,
            assigned_max_context_length=self._fit.chat_context,
            assigned_max_length=self._declared.chat.max_length or 0,
            image_transport=self._fit.image_transport,
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
