"""`horde admin` on a real database: accounts are made, changed and shown, and the ledger is proved."""

import asyncio
import json
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner, Result

from horde.cli.admin import app, create_account
from horde.contract.api_keys import hash_api_key
from horde.failures import StartError
from tests.servers import Database

SALT = "salt"


@pytest.fixture
def data_dir(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder as a running stack leaves it, and no setting in the environment."""
    for name in ("HORDE_DATABASE_URL", "secret_key", "HORDE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "stack.json").write_text(json.dumps({"database_url": database.url}))
    (tmp_path / "secrets.json").write_text(json.dumps({"secret_key": SALT}))
    return tmp_path


def admin(data_dir: Path, *words: str) -> Result:
    """One command, its exception raised here."""
    return CliRunner().invoke(app, [*words, "--data-dir", str(data_dir)], catch_exceptions=False)


def as_json(data_dir: Path, *words: str) -> Any:
    """What one command prints for programs."""
    result = admin(data_dir, *words, "--json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def test_an_account_is_created_changed_and_shown(data_dir: Path) -> None:
    made = as_json(data_dir, "user", "create", "alice", "--kudos", "1000", "--trusted")
    assert set(made) == {"id", "username", "api_key"}
    assert made["username"] == f"alice#{made['id']}"
    assert len(made["api_key"]) == 22
    number = str(made["id"])
    shown = as_json(data_dir, "user", "show", number)
    assert (shown["kudos"], shown["trusted"], shown["moderator"], shown["concurrency"]) == (1000, True, False, 30)
    changed = as_json(
        data_dir, "user", "set", number, "--kudos-add", "-100", "--no-trusted", "--moderator", "--concurrency", "5"
    )
    assert (changed["kudos"], changed["trusted"], changed["moderator"], changed["concurrency"]) == (900, True, True, 5)
    assert "api_key" not in changed
    assert as_json(data_dir, "user", "set", number, "--no-moderator", "--flagged")["flagged"]
    assert as_json(data_dir, "user", "set", number, "--reset-key")["api_key"] != made["api_key"]
    assert as_json(data_dir, "ledger", "check") == {"sound": True, "findings": []}


@pytest.mark.parametrize("kudos", [0, 3, 25, 1000])
def test_an_account_begins_with_exactly_the_kudos_it_is_given(data_dir: Path, kudos: int) -> None:
    made = as_json(data_dir, "user", "create", "bob", "--kudos", str(kudos))
    assert as_json(data_dir, "user", "show", str(made["id"]))["kudos"] == kudos
    assert as_json(data_dir, "ledger", "check") == {"sound": True, "findings": []}


def test_the_first_debit_lifts_an_account_to_its_floor_and_none_sinks_it_below(data_dir: Path) -> None:
    number = str(as_json(data_dir, "user", "create", "bob")["id"])
    assert as_json(data_dir, "user", "set", number, "--kudos-add", "-1")["kudos"] == 25
    assert as_json(data_dir, "user", "set", number, "--kudos-add", "-500")["kudos"] == 25
    assert as_json(data_dir, "ledger", "check") == {"sound": True, "findings": []}


def test_an_account_that_is_not_there_is_one_line(data_dir: Path) -> None:
    with pytest.raises(StartError, match="no account 99"):
        admin(data_dir, "user", "show", "99")


async def test_the_stored_key_is_the_salted_hash(database: Database) -> None:
    made = await create_account(database.url, SALT, "carol", moderator=True)
    connection = await asyncpg.connect(database.url)
    stored = await connection.fetchval("SELECT api_key FROM admission.users WHERE id = $1", made.id)
    roles = await connection.fetch("SELECT user_role FROM admission.user_roles WHERE user_id = $1", made.id)
    await connection.close()
    assert stored == hash_api_key(SALT, made.api_key)
    assert {row["user_role"] for row in roles} == {0, 1}


def test_a_tampered_ledger_is_found(data_dir: Path, database: Database) -> None:
    made = as_json(data_dir, "user", "create", "dave", "--kudos", "10")

    async def tamper() -> None:
        connection = await asyncpg.connect(database.url)
        await connection.execute("UPDATE admission.users SET kudos = kudos + 1 WHERE id = $1", made["id"])
        await connection.execute(
            "INSERT INTO admission.kudos_reservations (business_id, user_id, request_id, original_amount, "
            "remaining_amount) VALUES ('upfront:x', $1, gen_random_uuid(), 5, 5)",
            made["id"],
        )
        await connection.close()

    asyncio.run(tamper())
    result = admin(data_dir, "ledger", "check", "--json")
    assert result.exit_code == 1
    findings = json.loads(result.stdout)["findings"]
    assert {row["finding"] for row in findings} == {"balance differs", "hold outlives its request"}
    assert admin(data_dir, "ledger", "check").exit_code == 1
