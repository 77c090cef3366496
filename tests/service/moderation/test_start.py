"""What has to be true before moderation starts, and what it can work without."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import asyncpg
import pytest
from prometheus_client import REGISTRY

from horde.failures import StartError
from horde.store.versions import known
from services.moderation.schedule import check_start, every_loop
from tests.servers import Database

NOWHERE = {"HORDE_DATABASE_URL": "postgresql://nowhere", "HORDE_REDIS_URL": "redis://nowhere"}
TABLE = "ALTER TABLE moderation.moderation_events"
ANOTHER_CHECK = (
    f"{TABLE} DROP CONSTRAINT ck_moderation_events_address_gone, ADD CONSTRAINT ck_moderation_events_address_gone"
    " CHECK (NOT ipaddr_redacted OR num_nonnulls(ipaddr) = 0)"
)


async def test_the_schema_of_this_code_starts(moderation: Any) -> None:
    await check_start(moderation.deps)
    assert [loop.name for loop in every_loop(moderation.deps)] == [
        "refresh_filters",
        "upload_evidence",
        "retain",
        "prove_retention",
        "sweep_orphans",
    ]


async def test_every_loop_runs_on_an_empty_database(moderation: Any) -> None:
    for loop in every_loop(moderation.deps):
        await loop.run()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (f"{TABLE} ADD COLUMN shoe_size text", "shoe_size"),
        (f"{TABLE} DROP CONSTRAINT ck_moderation_events_identity_gone", "ck_moderation_events_identity_gone"),
        (ANOTHER_CHECK, "ck_moderation_events_address_gone"),
    ],
)
async def test_a_table_that_does_not_keep_the_promises_stops_the_start(
    moderation: Any, change: str, named: str
) -> None:
    await moderation.owner.execute(change)
    with pytest.raises(StartError, match=named):
        await check_start(moderation.deps)


async def test_what_moderation_can_work_without_is_told_once(
    serving_moderation: Callable[..., AbstractAsyncContextManager[Any]],
    redis_url: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    unusual = {"secret_key": "changeme", "moderation_frontpage_url": "front", "evidence_bucket": "evidence"}
    async with serving_moderation(redis_url, **unusual) as moderation:
        await check_start(moderation.deps)
    said = "".join(capfd.readouterr())
    for words in ("no pseudonyms", "no evidence store", "R2_EVIDENCE_ACCOUNT", "alerts have no links"):
        assert said.count(words) == 1, words
    assert "R2_EVIDENCE_BUCKET" not in said


async def test_beside_a_schema_of_newer_code_moderation_starts_and_says_what_it_does_not_know(
    moderation: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """A schema comes before its code: a replica of the old code that restarts in between has to come back."""
    await moderation.owner.execute(f"{TABLE} ADD COLUMN shoe_size text")
    await moderation.owner.execute("UPDATE horde_schema_version SET version_num = '9999'")
    await moderation.owner.execute("UPDATE horde_schema_floor SET version_num = $1", known()[-1])
    await check_start(moderation.deps)
    assert "column shoe_size has no fate" in "".join(capfd.readouterr())
    (tick,) = [loop.run for loop in every_loop(moderation.deps) if loop.name == "retain"]
    await tick()
    assert REGISTRY.get_sample_value("horde_moderation_retention_unmapped_columns") == 1


def start(**variables: str) -> subprocess.CompletedProcess[str]:
    """Moderation as a process of its own, with nothing else of ours in its environment."""
    ours = ("HORDE_", "R2_", "EVIDENCE_", "secret_key")
    others = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(
        [sys.executable, "-m", "services.moderation"],
        env={**others, **NOWHERE, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def refused_to_start(ended: subprocess.CompletedProcess[str], *named: str) -> None:
    assert ended.returncode == 2, ended.stderr
    for words in named:
        assert words in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HORDE_MODERATION_TEXT_RETENTION_DAYS", "30.5"),
        ("HORDE_MODERATION_TEXT_RETENTION_DAYS", ""),
        ("HORDE_MODERATION_TEXT_RETENTION_DAYS", "366"),
        ("HORDE_MODERATION_IPADDR_RETENTION_DAYS", "+30"),
        ("HORDE_MODERATION_EVIDENCE_CEILING_DAYS", "none"),
        ("HORDE_MODERATION_EVIDENCE_CEILING_DAYS", "366"),
        ("HORDE_WORKER_SUSPICION_RETENTION_DAYS", "none"),
        ("HORDE_WORKER_SUSPICION_RETENTION_DAYS", "36501"),
        ("HORDE_MODERATION_ACCESS_LOG_RETENTION_DAYS", "none"),
        ("HORDE_MODEL_REJECTION_TIMEOUT_THRESHOLD", "0"),
        ("HORDE_MODEL_REJECTION_TIMEOUT_THRESHOLD", "5.0"),
    ],
)
def test_a_malformed_window_or_threshold_ends_the_process_with_its_name(variable: str, value: str) -> None:
    refused_to_start(start(**{variable: value}), variable)


def test_a_window_longer_than_the_ceiling_ends_the_process_with_both_names() -> None:
    ceiling, address = "HORDE_MODERATION_EVIDENCE_CEILING_DAYS", "HORDE_MODERATION_IPADDR_RETENTION_DAYS"
    refused_to_start(start(**{ceiling: "29"}), ceiling, address)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (f"{TABLE} ADD COLUMN shoe_size text", "column shoe_size has no fate"),
        (ANOTHER_CHECK, "ck_moderation_events_address_gone"),
        ("UPDATE horde_schema_version SET version_num = '0001'", "run `horde migrate`"),
        ("DROP TABLE horde_schema_version", "run `horde migrate`"),
    ],
)
async def test_a_database_that_does_not_keep_the_promises_ends_the_process(
    database: Database, redis_url: str, change: str, named: str
) -> None:
    owner = await asyncpg.connect(database.url)
    await owner.execute(change)
    await owner.close()
    environment = {"HORDE_DATABASE_URL": database.url_for("horde_moderation"), "HORDE_REDIS_URL": redis_url}
    refused_to_start(await asyncio.to_thread(partial(start, **environment)), named)
