"""The preview tells what the next pass would change, and `horde retention preview` prints it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from horde.cli.retention import app
from horde.contract.retention import RetentionPolicy
from horde.failures import StartError
from services.moderation import retention_repo
from services.moderation.rules.preview import StepPreview
from tests.fakes.evidence import House, house
from tests.servers import Database

STEPS = ["anonymized", "text_redacted", "ipaddr_redacted", "problem_jobs_deleted", "problem_job_ipaddr_redacted"]


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


async def previewed(home: House, **windows: Any) -> dict[str, StepPreview]:
    found = await retention_repo.preview(home.store, RetentionPolicy(**windows))
    return {step.step: step for step in found}


async def test_what_is_due_now_and_later_and_what_is_held(home: House) -> None:
    await home.account(8, flagged=True)
    for age in (29, 31, 40):
        await home.event(age)
    await home.note(await home.event(50))
    await home.event(50, account_id=8)
    await home.event(1)
    steps = await previewed(home, text_days=None)
    assert list(steps) == ["anonymized", *STEPS[2:], "access_log_deleted"]
    address = steps["ipaddr_redacted"]
    assert (address.due_now, address.due_in_7_days, address.due_in_30_days) == (2, 3, 4)
    assert (address.held_by_note, address.held_by_account_status) == (1, 1)
    assert steps["anonymized"] == StepPreview("anonymized", 0, 0, 0, 0, 0, 0)


async def test_the_pass_changes_exactly_what_the_preview_told(home: House) -> None:
    for age in (8, 9, 31, 400):
        await home.event(age)
    windows = {"text_days": 7}
    due = await previewed(home, **windows)
    changed = dict.fromkeys(("anonymized", "text_redacted", "ipaddr_redacted"), 0)
    await home.tick(**windows)
    for flag in changed:
        changed[flag] = await home.owner.fetchval(
            f"SELECT count(*) FROM moderation.moderation_events WHERE {flag}"  # noqa: S608 - names of this test
        )
    assert changed == {flag: due[flag].due_now for flag in changed}
    assert {step.due_now for step in (await previewed(home, **windows)).values()} == {0}


async def test_what_needs_the_store_is_told(home: House) -> None:
    event = await home.event(8)
    await home.owner.execute(
        "UPDATE moderation.moderation_events SET submitted_prompt = NULL, moderation_prompt = NULL,"
        " text_state = 'stored' WHERE id = $1",
        event,
    )
    assert (await previewed(home, text_days=7))["text_redacted"].waiting_on_store == 1


def test_the_command_prints_the_preview_of_its_windows(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HORDE_DATABASE_URL", database.url)
    monkeypatch.setenv("HORDE_MODERATION_IPADDR_RETENTION_DAYS", "20")
    shown = CliRunner().invoke(app, ["preview", "--text-days", "7", "--json", "--data-dir", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.stdout)
    assert told["retention"] == {"text_days": 7, "ipaddr_days": 20, "ceiling_days": 365}
    assert [step["step"] for step in told["steps"]] == [*STEPS, "access_log_deleted"]
    assert told["steps"][0]["held"] == {"note": 0, "account_status": 0}
    table = CliRunner().invoke(app, ["preview", "--text-days", "none", "--data-dir", str(tmp_path)])
    assert table.stdout.splitlines()[0].split()[0] == "step"
    assert "text_redacted" not in table.stdout


@pytest.mark.parametrize(
    "options", [["--text-days", "0"], ["--text-days", "40", "--ceiling-days", "30"], ["--ceiling-days", "none"]]
)
def test_windows_that_could_not_be_set_are_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("HORDE_DATABASE_URL", database.url)
    refused = CliRunner().invoke(app, ["preview", *options])
    assert isinstance(refused.exception, StartError)
