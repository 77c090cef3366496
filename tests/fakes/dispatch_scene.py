"""Accounts, workers, requests and generations in a real database, without the pop that usually makes them."""

import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from horde.contract.api_keys import hash_api_key

SECRET = "a secret"
MODEL = "koboldcpp/Some-13B"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Account:
    id: int
    key: str


@dataclass
class Scene:
    """Writes as the owner of the database. `now` is when everything happened."""

    db: "asyncpg.Connection[asyncpg.Record]"
    now: datetime = NOW
    accounts: int = field(default=0)

    async def account(self, *, kudos: int = 100_000, trusted: bool = False) -> Account:
        """A registered account; kudos in hundredths."""
        self.accounts += 1
        key = f"key-{self.accounts}"
        made: int = await self.db.fetchval(
            "SELECT admission.create_account_v1($1, $2, 30, $3, $4)",
            f"account{self.accounts}",
            hash_api_key(SECRET, key),
            kudos,
            [1] if trusted else [],
        )
        return Account(made, key)

    async def worker(self, owner: Account, **columns: Any) -> uuid.UUID:
        """An online, validated chat worker of the model."""
        written: dict[str, Any] = {
            "user_id": owner.id,
            "name": f"worker {uuid.uuid4()}",
            "validated_backend": True,
            "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
            "max_length": 1024,
            "max_context_length": 4096,
            "models": [MODEL],
            "accepts_chat_jobs": True,
            "chat_model_id": MODEL,
            "chat_max_length": 1024,
            "chat_max_context_length": 4096,
            "chat_features": ["prompt_overflow_refused"],
            **columns,
        }
        return await self._insert("dispatch.workers", written)

    async def request(
        self, user: Account, *, hold: int = 0, image_keys: list[str] | None = None, **row: Any
    ) -> uuid.UUID:
        """A queued request, by the door that admission uses."""
        wanted = uuid.uuid4()
        written = {
            "id": str(wanted),
            "is_chat": True,
            "user_id": user.id,
            "created": self.now.isoformat(),
            "expiry": (self.now + timedelta(minutes=20)).isoformat(),
            "jobs": 1,
            "kudos": 1000,
            "params": {},
            "gen_payload": {},
            "models": [MODEL],
            "max_length": 512,
            "max_context_length": 2048,
            "chat_required_features": ["prompt_overflow_refused"],
            "image_keys": image_keys or [],
            "has_images": bool(image_keys),
            **row,
        }
        await self.db.execute("SELECT dispatch.enqueue_v2($1, $2, NULL, '[]', 0)", json.dumps(written), "x" * 2048)
        if hold:
            await self.db.execute(
                "INSERT INTO admission.kudos_reservations (business_id, user_id, request_id, original_amount,"
                " remaining_amount) VALUES ('upfront:' || $1::uuid, $2, $1, $3, $3)",
                wanted,
                user.id,
                hold,
            )
        return wanted

    async def generation(self, request: uuid.UUID, worker: uuid.UUID, **columns: Any) -> uuid.UUID:
        """A job of the request, handed out to the worker now."""
        lease = columns.pop("lease", 150)
        written: dict[str, Any] = {
            "id": uuid.uuid4(),
            "wp_id": request,
            "worker_id": worker,
            "model": MODEL,
            "created": self.now,
            "start_time": self.now,
            "job_ttl": lease,
            "lease_cap": 200,
            "lease_until": self.now + timedelta(seconds=lease),
            "worker_trusted": False,
            "assigned_model": MODEL,
            **columns,
        }
        if not written.get("fake"):
            await self.db.execute("UPDATE dispatch.waiting_prompts SET n = n - 1 WHERE id = $1", request)
            await self.db.execute(
                "UPDATE dispatch.wp_models m SET waiting = r.n > 0 FROM dispatch.waiting_prompts r"
                " WHERE r.id = m.wp_id AND r.id = $1",
                request,
            )
        return await self._insert("dispatch.processing_gens", written)

    async def row(self, table: str, wanted: object, column: str = "id") -> dict[str, Any]:
        """One row as it is now."""
        found = await self.db.fetchrow(f"SELECT * FROM {table} WHERE {column} = $1", wanted)  # noqa: S608 - a test's own words
        assert found is not None
        return dict(found)

    async def ledger_sum(self) -> int:
        """Zero, always."""
        total: int = await self.db.fetchval("SELECT coalesce(sum(amount), 0)::bigint FROM admission.kudos_ledger")
        return total

    async def _insert(self, table: str, columns: dict[str, Any]) -> uuid.UUID:
        places = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
        made: uuid.UUID = await self.db.fetchval(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) RETURNING id",  # noqa: S608 - a test's own words
            *columns.values(),
        )
        return made
