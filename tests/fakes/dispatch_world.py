"""A horde around dispatch for tests: accounts, waiting requests, rows as they are; through the database's own doors."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import asyncpg

from horde.contract.api_keys import hash_api_key

SECRET = "a secret of the tests"
MODEL = "koboldcpp/tiny-1B"


@dataclass(frozen=True)
class Account:
    """An account and its key."""

    id: int
    api_key: str
    alias: str


class World:
    """Speaks to the test's database as its owner."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection

    async def account(
        self, name: str = "owner", *roles: int, kudos: int = 1_000_000, concurrency: int = 500
    ) -> Account:
        """A new account; roles by number (1 trusted, 3 flagged, 9 deleted), kudos in hundredths."""
        api_key = f"{name}-{uuid.uuid4()}"[:22]
        number = await self._connection.fetchval(
            """INSERT INTO admission.users (username, oauth_id, api_key, kudos, concurrency)
               VALUES ($1, $2, $3, $4, $5) RETURNING id""",
            name,
            f"t_{uuid.uuid4()}",
            hash_api_key(SECRET, api_key),
            kudos,
            concurrency,
        )
        await self.many("INSERT INTO admission.user_roles VALUES ($1, $2)", [(number, role) for role in roles])
        return Account(number, api_key, f"{name}#{number}")

    async def anonymous(self) -> Account:
        """The account of the anonymous key."""
        await self.run("SELECT admission.ensure_anonymous_v1($1)", hash_api_key(SECRET, "0000000000"))
        return Account(0, "0000000000", "Anonymous#0")

    async def chat(self, requester: Account, text: str = "Hello", /, **columns: Any) -> uuid.UUID:
        """A waiting chat request; `columns` as dispatch.enqueue_v2 takes them, JSON columns as Python values."""
        chat = {"is_chat": True, "messages": [{"role": "user", "content": text}], "params": {}, "max_length": 512}
        return await self._request(requester, {**chat, **columns}, "")

    async def text(self, requester: Account, prompt: str = "Once upon", /, **columns: Any) -> uuid.UUID:
        """A waiting text request."""
        return await self._request(requester, {"params": {}, "max_length": 80, **columns}, prompt)

    async def _request(self, requester: Account, columns: dict[str, Any], prompt: str) -> uuid.UUID:
        request = uuid.uuid4()
        messages = columns.pop("messages", None)
        priority = columns.pop("priority", 0)
        row = {"id": request, "user_id": requester.id, "jobs": 1, "models": [MODEL], "gen_payload": {}, **columns}
        row.setdefault("max_context_length", 2048)
        await self.run(
            """SELECT dispatch.enqueue_v2(
                   $1::jsonb || jsonb_build_object('created', now(), 'expiry', now() + interval '20 minutes'),
                   $2, NULL, $3::jsonb, $4)""",
            json.dumps(row, default=str),
            prompt,
            None if messages is None else json.dumps(messages),
            priority,
        )
        return request

    async def request(self, request: uuid.UUID) -> asyncpg.Record:
        """A request's row."""
        return await self.one("SELECT * FROM dispatch.waiting_prompts WHERE id = $1", request)

    async def generations(self, request: uuid.UUID) -> list[asyncpg.Record]:
        """The generations of a request."""
        return await self.all("SELECT * FROM dispatch.processing_gens WHERE wp_id = $1 ORDER BY id", request)

    async def worker(self, name: str) -> asyncpg.Record:
        """A worker's row."""
        return await self.one("SELECT * FROM dispatch.workers WHERE name = $1", name)

    async def change_worker(self, name: str, **columns: Any) -> None:
        """Sets columns of a worker."""
        changes = ", ".join(f"{column} = ${place}" for place, column in enumerate(columns, 2))
        await self.run(f"UPDATE dispatch.workers SET {changes} WHERE name = $1", name, *columns.values())  # noqa: S608 - the test's own names

    async def change_request(self, request: uuid.UUID, **columns: Any) -> None:
        """Sets columns of a request."""
        changes = ", ".join(f"{column} = ${place}" for place, column in enumerate(columns, 2))
        await self.run(f"UPDATE dispatch.waiting_prompts SET {changes} WHERE id = $1", request, *columns.values())  # noqa: S608 - the test's own names

    async def is_waiting(self, request: uuid.UUID) -> bool:
        """Whether every entry of the request waits in its lane."""
        waits: bool = await self.value("SELECT bool_and(waiting) FROM dispatch.wp_models WHERE wp_id = $1", request)
        return waits

    async def run(self, statement: str, *args: Any) -> None:
        """Any statement."""
        await self._connection.execute(statement, *args)

    async def many(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """A statement for each row."""
        await self._connection.executemany(statement, rows)

    async def one(self, statement: str, *args: Any) -> asyncpg.Record:
        """The one row."""
        row = await self._connection.fetchrow(statement, *args)
        assert row is not None
        return row

    async def all(self, statement: str, *args: Any) -> list[asyncpg.Record]:
        """All rows."""
        return await self._connection.fetch(statement, *args)

    async def value(self, statement: str, *args: Any) -> Any:
        """The one value."""
        return await self._connection.fetchval(statement, *args)
