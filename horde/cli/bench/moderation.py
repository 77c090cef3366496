"""Moderators at work on a table of a million events, every filter through the gateway; then retention, far behind."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from time import perf_counter
from typing import Final
from urllib.parse import urlencode

import aiohttp

from horde.cli.admin import create_account
from horde.cli.bench.evidence import ADDRESS_DAYS, SUSPICION_DAYS, TEXT_DAYS, Evidence
from horde.cli.bench.report import Recorder, Report, cpu_seconds
from horde.cli.bench.review_filters import Query, event_filters, other_lists
from horde.cli.bench.system import System
from horde.settings import PostgresSettings
from horde.store import Store

_REVIEW: Final = "/api/v2/operations/moderation"
_STEPS: Final = (
    "anonymized",
    "text_redacted",
    "ipaddr_redacted",
    "problem_jobs_deleted",
    "problem_job_ipaddr_redacted",
    "worker_suspicion_deleted",
    "access_log_deleted",
)
_ROWS: Final = "horde_moderation_retention_rows_total"
_FILL_SECONDS: Final = 600.0
_LOOK_SECONDS: Final = 0.2
_SAMPLE: Final = re.compile(
    r"^(?P<name>\w+)\{[^}]*\b(?:loop|step)=\"(?P<label>\w+)\"[^}]*\} (?P<value>\S+)$", re.MULTILINE
)

SETTINGS: Final[Mapping[str, str]] = {
    "HORDE_MODERATION_TEXT_RETENTION_DAYS": str(TEXT_DAYS),
    "HORDE_MODERATION_IPADDR_RETENTION_DAYS": str(ADDRESS_DAYS),
    "HORDE_WORKER_SUSPICION_RETENTION_DAYS": str(SUSPICION_DAYS),
    "HORDE_MODERATION_SWEEP_INTERVAL_SECONDS": "60",
    "KUDOS_TRUST_THRESHOLD": "100",
}
"""Of the system that is measured: every step of retention has a window, and its proof is made within a minute."""


@dataclass(frozen=True)
class _Desk:
    """One moderator's calls, and the system they go to."""

    system: System
    session: aiohttp.ClientSession
    api_key: str
    recorder: Recorder = field(default_factory=Recorder)

    async def read(self, name: str, path: str, query: Query, calls: int) -> None:
        """The same page so many times; the first, which finds nothing in the caches, is not counted."""
        address = f"{self.system.gateway_url}{_REVIEW}{path}?{urlencode(query)}"
        for number in range(calls + 1):
            self.recorder.recording = number > 0
            with self.recorder.timed(name):
                async with self.session.get(address, headers={"apikey": self.api_key}) as answer:
                    await answer.read()
            if answer.status != HTTPStatus.OK:
                self.recorder.failed(name, answer.status)
        self.recorder.recording = False

    async def told(self) -> dict[tuple[str, str], float]:
        """What moderation's metrics say now, each by its name and its loop or step."""
        async with self.session.get(self.system.metrics["moderation"]) as answer:
            text = await answer.text()
        return {(found["name"], found["label"]): float(found["value"]) for found in _SAMPLE.finditer(text)}


async def measure(system: System, *, events: int, calls: int, backlog: int) -> AsyncIterator[Report]:
    """Fills the tables; one report of all pages, then one of retention. The events stay: nothing deletes one."""
    account = await create_account(system.database_url, system.secret_key, "bench_moderator", moderator=True)
    # without looking every foreign key up: nothing here refers to what is not there
    settings = PostgresSettings(
        database_url=f"{system.database_url}?session_replication_role=replica",
        database_pool_size=1,
        database_statement_seconds=_FILL_SECONDS,
    )
    async with (
        Store.open(settings, application_name="horde-bench") as store,
        aiohttp.ClientSession(auto_decompress=False) as session,
    ):
        desk = _Desk(system, session, account.api_key)
        evidence = Evidence(store, system.secret_key, account.id)
        newest = await evidence.fill(events)
        yield await _pages(desk, newest, calls, f"review, {events} events")
        yield await _retention(desk, evidence, backlog, f"retention, {events} events, {backlog} more for each step")


async def _pages(desk: _Desk, newest: int, calls: int, title: str) -> Report:
    filters = event_filters(newest, desk.system.secret_key)
    pages = {name: ("/prompts", query) for name, query in filters.items()} | other_lists(newest)
    before, start = cpu_seconds(desk.system.pids), perf_counter()
    for name, (path, query) in pages.items():
        await desk.read(name, path, query, calls)
    elapsed, after = perf_counter() - start, cpu_seconds(desk.system.pids)
    recorder = desk.recorder
    return Report(
        title=title,
        unit="page",
        rate=(calls + 1) * len(pages) / elapsed,
        seconds=elapsed,
        calls={name: list(times) for name, times in recorder.calls.items()},
        errors=dict(recorder.errors),
        cpu={name: after[name] - before.get(name, 0.0) for name in after},
    )


async def _retention(desk: _Desk, evidence: Evidence, backlog: int, title: str) -> Report:
    """How long the ticks take that work a backlog off, one after the other, and the proofs beside."""
    before, told = cpu_seconds(desk.system.pids), await desk.told()
    rows_before = {step: told.get((_ROWS, step), 0.0) for step in _STEPS}
    await evidence.fall_behind(backlog)
    start = perf_counter()
    calls: dict[str, list[float]] = {"tick": [], "proof": []}
    rows = dict.fromkeys(_STEPS, 0.0)
    while min(rows.values()) < backlog or not all(calls.values()):
        await asyncio.sleep(_LOOK_SECONDS)
        now = await desk.told()
        for call, loop in (("tick", "retain"), ("proof", "prove_retention")):
            runs, seconds = (
                now.get(of, 0.0) - told.get(of, 0.0)
                for of in ((f"horde_loop_duration_seconds_{part}", loop) for part in ("count", "sum"))
            )
            if runs:
                calls[call].append(seconds / runs)
        told = now
        rows = {step: told.get((_ROWS, step), 0.0) - rows_before[step] for step in _STEPS}
    elapsed, after = perf_counter() - start, cpu_seconds(desk.system.pids)
    cpu = {name: after[name] - before.get(name, 0.0) for name in after}
    return Report(title, "row", sum(rows.values()) / elapsed, elapsed, calls, {}, cpu)
