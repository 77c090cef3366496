"""`horde admin`: accounts and the proof of the ledger, for whoever owns the database.

Works on the database of HORDE_DATABASE_URL, else of the stack whose data folder is given. Keys are shown once, when
they are made.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from horde.cli.owner import DATA_DIR, Owner, owner_of
from horde.contract.api_keys import hash_api_key
from horde.failures import Outage, StartError
from horde.settings import PostgresSettings
from horde.store import Store, UniqueViolation, queries

app = typer.Typer(help="Accounts and the ledger.", no_args_is_help=True)
user = typer.Typer(help="Accounts.", no_args_is_help=True)
ledger = typer.Typer(help="The ledger.", no_args_is_help=True)
app.add_typer(user, name="user")
app.add_typer(ledger, name="ledger")

_SQL = queries("horde.cli")

MODERATOR, TRUSTED, FLAGGED, SERVICE = 0, 1, 3, 7
"""Numbers of the roles. base-domain 2.2."""

MAX_USERNAME = 30
"""base-domain 2.1."""

DataDir = Annotated[Path, typer.Option(help="The stack's data folder; used when HORDE_DATABASE_URL is not set.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
AccountId = Annotated[int, typer.Argument(help="The account's number, behind the # of its alias.")]


@dataclass(frozen=True)
class CreatedAccount:
    """A new account and the only copy of its key."""

    id: int
    username: str
    api_key: str


async def create_account(  # noqa: PLR0913 - one argument for each thing an account begins with
    url: str,
    secret_key: str,
    name: str,
    *,
    kudos: int = 0,
    trusted: bool = False,
    moderator: bool = False,
    flagged: bool = False,
    service: bool = False,
    concurrency: int = 30,
) -> CreatedAccount:
    """A new registered account in the database of `url` (the owner's). `kudos` in whole kudos.

    Raises StartError for a name that is empty or too long, and StoreUnavailable.
    """
    if not name.strip() or len(name) > MAX_USERNAME or "\0" in name:
        raise StartError(f"a name has 1 to {MAX_USERNAME} characters")
    wanted = {TRUSTED: trusted or moderator, MODERATOR: moderator, FLAGGED: flagged, SERVICE: service}
    roles = [role for role, is_wanted in wanted.items() if is_wanted]
    api_key = secrets.token_urlsafe(16)
    async with _store(url) as store:
        account = await store.fetchval(
            _SQL["create_account"], name, hash_api_key(secret_key, api_key), concurrency, kudos * 100, roles
        )
    return CreatedAccount(account, f"{name}#{account}", api_key)


async def show_account(url: str, account: int) -> dict[str, Any]:
    """What is known of one account; kudos in whole kudos with two decimals. Raises StartError when there is none."""
    async with _store(url) as store:
        return await _shown(store, account)


async def check_ledger(url: str) -> list[dict[str, Any]]:
    """Every row that disproves the ledger, amounts in hundredths of a kudo; empty when it is sound."""
    async with _store(url) as store:
        return [
            dict(row)
            for name in ("check_sets", "check_balances", "check_holds")
            for row in await store.fetch(_SQL[name])
        ]


@user.command("create")
def create(  # noqa: PLR0913, PLR0917 - one argument for each option
    name: Annotated[str, typer.Argument(help="The name before the #.")],
    kudos: Annotated[int, typer.Option(min=0, help="Whole kudos to begin with.")] = 0,
    trusted: Annotated[bool, typer.Option("--trusted")] = False,
    moderator: Annotated[bool, typer.Option("--moderator", help="Also makes the account trusted.")] = False,
    flagged: Annotated[bool, typer.Option("--flagged")] = False,
    service: Annotated[bool, typer.Option("--service")] = False,
    concurrency: Annotated[int, typer.Option(min=0, max=500, help="Generations that may wait at once.")] = 30,
    data_dir: DataDir = DATA_DIR,
    as_json: AsJson = False,
) -> None:
    """Create an account and print its key, which is stored nowhere."""
    owner = owner_of(data_dir)
    made = _run(
        lambda: create_account(
            owner.url,
            owner.secret_key,
            name,
            kudos=kudos,
            trusted=trusted,
            moderator=moderator,
            flagged=flagged,
            service=service,
            concurrency=concurrency,
        )
    )
    _print({"id": made.id, "username": made.username, "api_key": made.api_key}, as_json=as_json)


@user.command("set")
def change(  # noqa: PLR0913, PLR0917 - one argument for each option
    account: AccountId,
    kudos_add: Annotated[int, typer.Option(help="Whole kudos to add; negative to take.")] = 0,
    trusted: Annotated[bool | None, typer.Option("--trusted/--no-trusted")] = None,
    moderator: Annotated[bool | None, typer.Option("--moderator/--no-moderator")] = None,
    flagged: Annotated[bool | None, typer.Option("--flagged/--no-flagged")] = None,
    concurrency: Annotated[int | None, typer.Option(min=0, max=500)] = None,
    reset_key: Annotated[bool, typer.Option("--reset-key", help="Make and print a new key.")] = False,
    data_dir: DataDir = DATA_DIR,
    as_json: AsJson = False,
) -> None:
    """Change one account and print it as it is then."""
    owner = owner_of(data_dir)
    roles = {TRUSTED: True if moderator else trusted, MODERATOR: moderator, FLAGGED: flagged}
    _print(_run(lambda: _changed(owner, account, kudos_add, roles, concurrency, reset_key=reset_key)), as_json=as_json)


@user.command("show")
def show(account: AccountId, data_dir: DataDir = DATA_DIR, as_json: AsJson = False) -> None:
    """Print one account: kudos, holds, roles, suspicions."""
    owner = owner_of(data_dir)
    _print(_run(lambda: show_account(owner.url, account)), as_json=as_json)


@ledger.command("check")
def check(data_dir: DataDir = DATA_DIR, as_json: AsJson = False) -> None:
    """Prove the ledger: postings balance, balances equal their postings, no hold outlives its request."""
    owner = owner_of(data_dir)
    rows = _run(lambda: check_ledger(owner.url))
    if as_json:
        typer.echo(json.dumps({"sound": not rows, "findings": rows}))
    elif not rows:
        typer.echo("the ledger is sound")
    for row in [] if as_json else rows:
        typer.echo(f"{row['finding']}: {row['subject']} (expected {row['expected']}, found {row['found']})")
    if rows:
        raise typer.Exit(1)


async def _changed(
    owner: Owner,
    account: int,
    kudos_add: int,
    roles: dict[int, bool | None],
    concurrency: int | None,
    *,
    reset_key: bool,
) -> dict[str, Any]:
    async with _store(owner.url) as store:
        await _shown(store, account)  # nothing is changed of an account that is not there
        if account == 0 and any(roles.values()):
            raise StartError("the anonymous account takes no roles")
        if kudos_add:
            await store.fetchval(_SQL["adjust_kudos"], account, kudos_add * 100)
        for role, is_wanted in roles.items():
            if role == TRUSTED and is_wanted:
                await store.fetchval(_SQL["promote"], account)
            elif is_wanted is not None:
                await store.execute(_SQL["add_role" if is_wanted else "remove_role"], account, role)
        if concurrency is not None:
            await store.execute(_SQL["set_concurrency"], account, concurrency)
        if not reset_key:
            return await _shown(store, account)
        if account == 0:
            raise StartError("the anonymous key is the same everywhere")
        api_key = secrets.token_urlsafe(16)
        await store.execute(_SQL["set_key"], account, hash_api_key(owner.secret_key, api_key))
        return {**await _shown(store, account), "api_key": api_key}


async def _shown(store: Store, account: int) -> dict[str, Any]:
    row = await store.fetchrow(_SQL["show_account"], account)
    if row is None:
        raise StartError(f"there is no account {account}")
    amounts = {"kudos": row["kudos"], "escrow": row["evaluating_kudos"], "held": row["held"]}
    roles = ("trusted", "moderator", "flagged", "service", "education", "vpn", "deleted")
    return {
        "id": row["id"],
        "username": row["alias"],
        **{name: amount / 100 for name, amount in amounts.items()},
        **{role: row[role] for role in roles},
        "concurrency": row["concurrency"],
        "suspicions": row["suspicion_count"],
        "created": row["created"].isoformat(),
        "last_active": row["last_active"].isoformat(),
    }


def _store(url: str) -> Any:
    return Store.open(PostgresSettings(database_url=url, database_pool_size=2), application_name="horde-admin")


def _run[T](work: Callable[[], Awaitable[T]]) -> T:
    """Runs one piece of work against the database; an outage is one line for the operator, not a traceback."""

    async def whole() -> T:
        return await work()

    try:
        return asyncio.run(whole())
    except Outage as away:
        raise StartError(
            f"the database cannot be reached ({away.detail}); check HORDE_DATABASE_URL or --data-dir"
        ) from None
    except UniqueViolation as taken:
        raise StartError(f"this exists already ({taken.constraint})") from None


def _print(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(facts))
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        typer.echo(f"{name:<{width}}  {value}")
