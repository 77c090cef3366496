"""An evidence store in memory that fails when a test says so, and events of every age to keep house with."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, override
from uuid import UUID, uuid4

import asyncpg

from horde.contract.retention import RetentionPolicy
from horde.store import Query, Store
from services.moderation import repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.evidence_store import EvidenceStore, EvidenceUnavailable
from services.moderation.retention import Tick
from services.moderation.rules.evidence import Evidence, Path, WorkerReport, capture, capture_report
from services.moderation.settings import ModerationServiceSettings
from tests.servers import Database

type Owner = asyncpg.Connection[asyncpg.Record]

SECRET = "a secret"


async def _nothing() -> None:
    return None


@dataclass
class Trouble:
    """What goes wrong with the store, and what happens while it is asked."""

    away: bool = False
    stubborn: set[int] = field(default_factory=set)
    """Events whose objects it does not delete."""
    while_deleting: Callable[[], Awaitable[None]] = _nothing
    """Runs after the objects are gone and before the caller hears of it."""
    after_put: Callable[[], Awaitable[None]] = _nothing
    puts_left: int | None = None
    """Puts that still work; None: all."""


class MemoryEvidence(EvidenceStore):
    """Objects by event. The rest is as the real one promises."""

    def __init__(self, *, configured: bool = True) -> None:
        settings = ModerationServiceSettings(
            database_url="postgresql://nowhere",
            redis_url="redis://nowhere",
            evidence_account="http://127.0.0.1:1" if configured else None,
            evidence_bucket="evidence",
            evidence_access_key="key",
            evidence_secret_key="secret",
        )
        super().__init__(settings)
        self.objects: dict[int, bytes] = {}
        self.trouble = Trouble()
        self.puts: list[int] = []
        """The events whose put was tried."""
        self.deletes: list[int] = []
        """The size of each bulk call."""

    @override
    async def put(self, event_id: int, body: bytes) -> None:
        self.puts.append(event_id)
        if self.trouble.away or self.trouble.puts_left == 0:
            raise EvidenceUnavailable(ConnectionError())
        if self.trouble.puts_left is not None:
            self.trouble.puts_left -= 1
        self.objects[event_id] = body
        await self.trouble.after_put()

    @override
    async def delete(self, events: Collection[int]) -> set[int]:
        if self.trouble.away:
            raise EvidenceUnavailable(ConnectionError())
        self.deletes.append(len(events))
        for event in set(events) - self.trouble.stubborn:
            self.objects.pop(event, None)
        await self.trouble.while_deleting()
        return set(events) & self.trouble.stubborn

    @override
    async def listed(self) -> AsyncIterator[list[int]]:
        if self.trouble.away:
            raise EvidenceUnavailable(ConnectionError())
        yield sorted(self.objects)


@dataclass
class House:
    """A database with events in it, its owner, and the store of their texts."""

    store: Store
    owner: Owner
    evidence: MemoryEvidence

    async def event(self, age_days: float = 0, **changed: Any) -> int:
        """A rejection of account 7, captured so long ago."""
        known = {"account_id": 7, "origin": "2001:db8::1", "models": ("m",), "prompt": "words", "reason": Path.MODEL}
        event, _ = await repo.add_event(self.store, capture(secret=SECRET, **{**known, **changed}))
        await self.grow_older(timedelta(days=age_days), event)
        return event

    async def reported(self, age_days: float = 0, job_id: UUID | None = None, account_id: int = 7) -> int:
        """A worker's report of a job of that account, captured so long ago."""
        report = WorkerReport(
            request_id=uuid4(),
            job_id=job_id or uuid4(),
            worker_id=uuid4(),
            worker_name="w",
            account_id=account_id,
            proxied_account="somebody",
            origin="unknown",
            models=("m",),
            loras=(),
            submitted_prompt="said",
            effective_prompt="got",
        )
        event, _ = await repo.add_event(self.store, capture_report(report, secret=SECRET))
        await self.grow_older(timedelta(days=age_days), event)
        return event

    async def add(self, evidence: Evidence) -> tuple[int, bool]:
        """What was captured elsewhere; False when its job had an event already."""
        return await repo.add_event(self.store, evidence)

    async def grow_older(self, by: timedelta, event: int | None = None) -> None:
        """Moves what was captured into the past: an event, or everything there is."""
        if event is not None:
            age = "UPDATE moderation.moderation_events SET created = created - $1::interval WHERE id = $2"
            await self.owner.execute(age, by, event)
            return
        for table in ("moderation_events", "user_problem_jobs", "worker_suspicion_events", "moderation_access_log"):
            await self.owner.execute(f"UPDATE moderation.{table} SET created = created - $1::interval", by)  # noqa: S608 - names of this loop

    async def row(self, event: int) -> dict[str, Any]:
        found = await self.owner.fetchrow("SELECT * FROM moderation.moderation_events WHERE id = $1", event)
        assert found is not None
        return dict(found)

    async def note(self, event: int) -> None:
        add = "INSERT INTO moderation.moderation_event_notes (event_id, author_id, note) VALUES ($1, 1, 'kept')"
        await self.owner.execute(add, event)

    async def note_elsewhere(self, event: int) -> None:
        """A note of another process: it may have to wait for a lock."""
        add = Query.parse(
            "test.note",
            "-- note: of a test.\n-- $1 event bigint\n"
            "INSERT INTO moderation.moderation_event_notes (event_id, author_id, note) VALUES ($1, 1, 'kept')",
        )
        await self.store.execute(add, event)

    async def account(
        self, account_id: int, *, suspicions: int = 0, flagged: bool = False, trusted: bool = False
    ) -> None:
        """Makes the account, or changes its standing."""
        await self.owner.execute(
            "INSERT INTO admission.users (id, username, oauth_id, api_key) OVERRIDING SYSTEM VALUE"
            " VALUES ($1::int, 'somebody', 'oauth-' || $1::text, 'key-' || $1::text) ON CONFLICT DO NOTHING",
            account_id,
        )
        await self.owner.execute("DELETE FROM admission.user_suspicions WHERE user_id = $1", account_id)
        await self.owner.execute("DELETE FROM admission.user_roles WHERE user_id = $1", account_id)
        add = "INSERT INTO admission.user_suspicions (user_id, suspicion_id) SELECT $1, 5 FROM generate_series(1, $2)"
        await self.owner.execute(add, account_id, suspicions)
        roles = [role for role, has in ((3, flagged), (1, trusted)) if has]
        add_role = "INSERT INTO admission.user_roles (user_id, user_role) VALUES ($1, $2)"
        await self.owner.executemany(add_role, [(account_id, role) for role in roles])

    async def anonymous(self) -> None:
        """The account that everybody shares: with suspicions and a flag, which count for nothing."""
        await self.owner.execute(
            "INSERT INTO admission.users (id, username, oauth_id, api_key) OVERRIDING SYSTEM VALUE"
            " VALUES (0, 'Anonymous', 'anon', 'anon') ON CONFLICT DO NOTHING"
        )
        add = "INSERT INTO admission.user_suspicions (user_id, suspicion_id) SELECT 0, 5 FROM generate_series(1, 9)"
        await self.owner.execute(add)
        await self.owner.execute(
            "INSERT INTO admission.user_roles (user_id, user_role) VALUES (0, 3) ON CONFLICT DO NOTHING"
        )

    async def access(self, age_days: float, moderator_id: int = 1) -> None:
        """A line of the access log."""
        await self.owner.execute(
            "INSERT INTO moderation.moderation_access_log (moderator_id, action, endpoint, created)"
            " VALUES ($1, 'noted', 'here', now() - $2::interval)",
            moderator_id,
            timedelta(days=age_days),
        )

    async def problem_job(self, age_days: float, account_id: int = 7, ipaddr: str | None = "1.2.3.4") -> None:
        await self.owner.execute(
            "INSERT INTO moderation.user_problem_jobs (user_id, worker_id, job_id, ipaddr, origin_text, created)"
            " VALUES ($1, $2, $3, $4, $5, now() - $6::interval)",
            account_id,
            uuid4(),
            uuid4(),
            ipaddr,
            None if ipaddr else "x",
            timedelta(days=age_days),
        )

    async def suspicion(self, age_days: float, account_id: int = 7) -> None:
        await self.owner.execute(
            "INSERT INTO moderation.worker_suspicion_events"
            " (worker_id, worker_name, user_id, suspicion_id, detail, created)"
            " VALUES ($1, 'w', $2, 5, 'd', now() - $3::interval)",
            uuid4(),
            account_id,
            timedelta(days=age_days),
        )

    async def tick(self, **windows: Any) -> None:
        """One tick of retention."""
        await Tick(self.store, self.evidence, RetentionPolicy(**windows), EvidenceEvents()).run()


@asynccontextmanager
async def house(database: Database, *, configured: bool = True) -> AsyncIterator[House]:
    """A house on a database of its own."""
    owner = await asyncpg.connect(database.url)
    try:
        async with database.store("horde_moderation") as store:
            yield House(store, owner, MemoryEvidence(configured=configured))
    finally:
        await owner.close()
