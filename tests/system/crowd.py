"""Many clients and many workers at once, some of whom change their minds; and what must hold when they are done."""

import asyncio
import random
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx

from tests.system.services import Services
from tests.system.volunteer import Job, Volunteer

MODEL = "test/Crowd-7B"
_ENDS_WITHIN_SECONDS = 120

# both times are read before the transaction that makes them true, so a second is no proof of anything
_OVERLAPPING = """
SELECT a.id, b.id FROM dispatch.processing_gens a JOIN dispatch.processing_gens b ON a.wp_id = b.wp_id AND a.id < b.id
WHERE a.start_time < coalesce(b.ended_at, 'infinity') - interval '1 second'
  AND b.start_time < coalesce(a.ended_at, 'infinity') - interval '1 second'
"""
_UNBALANCED = """
SELECT r.id, r.n, r.jobs, count(g.*) FILTER (WHERE g.generation IS NOT NULL) AS finished
FROM dispatch.waiting_prompts r LEFT JOIN dispatch.processing_gens g ON g.wp_id = r.id
GROUP BY r.id HAVING count(g.*) FILTER (WHERE g.generation IS NOT NULL) > r.jobs
    OR (NOT r.faulted AND NOT r.cancelled AND r.n + count(g.*) FILTER (WHERE NOT g.faulted) <> r.jobs)
"""
_OPEN_HOLDS = """
SELECT h.business_id FROM admission.kudos_reservations h LEFT JOIN dispatch.waiting_prompts r ON r.id = h.request_id
WHERE h.released_at IS NULL AND (r.id IS NULL OR r.faulted)
"""


@dataclass
class Crowd:
    """So many requests by so many clients, or more, served by so many workers."""

    services: Services
    requests: int
    clients: int = 8
    workers: int = 8
    streamed_share: float = 0.3
    cancel_share: float = 0.1
    fault_share: float = 0.1
    vanish_share: float = 0.0
    endings: dict[str, int] = field(default_factory=lambda: {"done": 0, "faulted": 0, "cancelled": 0})
    errors: list[str] = field(default_factory=list)
    asked: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def run(self, enough: threading.Event | None = None) -> None:
        """Until every request has ended; with `enough`, clients go on asking until it is set."""
        chance = random.Random(7)
        lock = threading.Lock()

        def decide(_: Job) -> str:
            with lock:
                draw = chance.random()
            if draw < self.fault_share:
                return "fault"
            return "vanish" if draw < self.fault_share + self.vanish_share else "reply"

        owners = [self.services.account(f"crowd_owner_{n}") for n in range(self.workers)]
        volunteers = [
            Volunteer(self.services.url, owner.api_key, name=f"crowd {owner.id}", model=MODEL, decide=decide)
            for owner in owners
        ]
        keys = [self.services.account(f"crowd_client_{n}").api_key for n in range(self.clients)]
        for volunteer in volunteers:
            volunteer.__enter__()
        try:
            threads = [
                threading.Thread(target=self._client, args=(n, key, enough), daemon=True) for n, key in enumerate(keys)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(_ENDS_WITHIN_SECONDS)
                if thread.is_alive():
                    self.errors.append("a client still waits for its requests to end")
        finally:
            for volunteer in volunteers:
                volunteer.__exit__()
        self.handed_out = [popped["id"] for volunteer in volunteers for popped in volunteer.popped]

    def _client(self, number: int, api_key: str, enough: threading.Event | None) -> None:
        chance = random.Random(number)
        with httpx.Client(base_url=f"{self.services.url}/api/v2", headers={"apikey": api_key}, timeout=30) as http:
            own = 0
            while own < self.requests // self.clients or not (enough is None or enough.is_set()):
                own += 1
                with self._counting:
                    self.asked += 1
                try:
                    self._one(http, chance)
                except Exception as failure:  # noqa: BLE001 - because a thread's failure has to reach the test
                    self.errors.append(repr(failure))

    def _one(self, http: httpx.Client, chance: random.Random) -> None:
        body = {
            "model": MODEL,
            "messages": [{"role": "user", "content": f"Tell me number {chance.random()}"}],
            "max_tokens": 16,
            "stream": chance.random() < self.streamed_share,
            # a repeat after a lost answer finds the first request
            "horde": {"operation_key": str(uuid.uuid4())},
        }
        accepted = _insist(http, "POST", "/generate/chat/async", body)
        if accepted.status_code not in {200, 202}:
            raise AssertionError(f"not accepted: {accepted.status_code} {accepted.text}")
        path = f"/generate/chat/status/{accepted.json()['id']}"
        cancelled = chance.random() < self.cancel_share
        if cancelled:
            time.sleep(chance.random() * 0.2)
            _insist(http, "DELETE", path)
        end = time.monotonic() + _ENDS_WITHIN_SECONDS
        status: dict[str, Any] = {}
        while time.monotonic() < end:
            status = _insist(http, "GET", path).json()
            if status["done"] or status["faulted"]:
                ending = "faulted" if status["faulted"] else "done" if status["finished"] else "cancelled"
                with self._counting:
                    self.endings[ending] += 1
                if ending == "cancelled" and not cancelled:
                    self.errors.append(f"nobody cancelled {path}: {status}")
                return
            time.sleep(0.05)
        self.errors.append(f"{path} never ended: {status}")

    def broken_promises(self) -> dict[str, Any]:
        """What should not be in the database after the crowd has gone; each empty when all is well."""
        return asyncio.run(self._broken_promises())

    async def _broken_promises(self) -> dict[str, Any]:
        connection = await asyncpg.connect(self.services.database_url)
        try:
            found = {
                "two workers held one job at once": await connection.fetch(_OVERLAPPING),
                "jobs that do not add up": await connection.fetch(_UNBALANCED),
                "holds that outlived their request": await connection.fetch(_OPEN_HOLDS),
            }
        finally:
            await connection.close()
        return {name: [dict(row) for row in rows] for name, rows in found.items() if rows}


def _insist(http: httpx.Client, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
    while True:
        try:
            answer = http.request(method, path, json=body)
        except httpx.TransportError:
            time.sleep(0.1)
            continue
        if answer.status_code < 500:
            return answer
        time.sleep(0.1)
