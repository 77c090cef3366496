"""What has to be true before moderation starts, and what it can work without."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from horde.failures import StartError
from services.moderation.schedule import check_start, every_loop

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


@pytest.mark.parametrize(
    ("variable", "value"),
    [("HORDE_MODERATION_EVIDENCE_CEILING_DAYS", "none"), ("HORDE_MODERATION_TEXT_RETENTION_DAYS", "30.5")],
)
def test_a_malformed_window_ends_the_process_with_its_name(variable: str, value: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "services.moderation"],
        env={**os.environ, "HORDE_DATABASE_URL": "postgresql://nowhere", variable: value},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert variable in ended.stderr
    assert "Traceback" not in ended.stderr
