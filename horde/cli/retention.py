"""`horde retention`: what the rules of retention would remove, before they do.

Works on the database of HORDE_DATABASE_URL, else of the stack whose data folder is given. Windows that are not given
are those of this environment.
"""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from horde.cli.owner import DATA_DIR, owner_of
from horde.contract.retention import MAX_CEILING_DAYS, RetentionPolicy, longer_than_ceiling, whole_days, window_days
from horde.failures import Outage, StartError
from horde.settings import PostgresSettings, RetentionSettings, load
from horde.store import Store, queries

app = typer.Typer(help="What the retention rules would remove.", no_args_is_help=True)

_SQL = queries("horde.store")

_COLUMNS = (
    ("step", "step"),
    ("due_now", "due now"),
    ("due_in_7_days", "in 7 days"),
    ("due_in_30_days", "in 30 days"),
    ("held_by_note", "held: note"),
    ("held_by_account_status", "held: account"),
    ("waiting_on_store", "need the store"),
)


@app.callback()
def _group() -> None:
    """Keeps `preview` a word of its own while it is the only one."""


@app.command()
def preview(
    text_days: Annotated[str | None, typer.Option(help="Days that texts are kept, or none.")] = None,
    ipaddr_days: Annotated[str | None, typer.Option(help="Days that addresses are kept, or none.")] = None,
    ceiling_days: Annotated[str | None, typer.Option(help="Days after which nothing of a person is kept.")] = None,
    data_dir: Annotated[
        Path, typer.Option(help="The stack's data folder; used when HORDE_DATABASE_URL is not set.")
    ] = DATA_DIR,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """What the next pass would change with these windows. Changes nothing."""
    policy = _policy(text_days, ipaddr_days, ceiling_days)
    rows = asyncio.run(steps(owner_of(data_dir).url, policy))
    if as_json:
        windows = {name: getattr(policy, name) for name in ("text_days", "ipaddr_days", "ceiling_days")}
        typer.echo(json.dumps({"retention": windows, "steps": [_as_the_route_tells(row) for row in rows]}))
        return
    widths = [max(len(title), *(len(str(row[name])) for row in rows)) for name, title in _COLUMNS]
    for cells in ([title for _, title in _COLUMNS], *([str(row[name]) for name, _ in _COLUMNS] for row in rows)):
        first, *numbers = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        typer.echo("  ".join([first, *(cell.strip().rjust(len(cell)) for cell in numbers)]))


async def steps(url: str, policy: RetentionPolicy) -> list[dict[str, Any]]:
    """One row for each step that has a window. Raises StartError when the database cannot be read."""
    settings = PostgresSettings(database_url=url, database_pool_size=1)
    windows = (
        policy.text_days,
        policy.ipaddr_days,
        policy.ceiling_days,
        policy.worker_suspicion_days,
        policy.access_log_days,
    )
    try:
        async with Store.open(settings, application_name="horde-retention") as store:
            return [dict(row) for row in await store.fetch(_SQL["preview_retention"], *windows)]
    except Outage as away:
        raise StartError(f"the preview could not be made ({away}); check HORDE_DATABASE_URL") from away


def _as_the_route_tells(row: dict[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in row.items() if not name.startswith("held_by_")}
    return told | {"held": {"note": row["held_by_note"], "account_status": row["held_by_account_status"]}}


def _policy(text: str | None, ipaddr: str | None, ceiling: str | None) -> RetentionPolicy:
    policy = load(RetentionSettings).retention
    try:
        if text is not None:
            policy = replace(policy, text_days=window_days(text))
        if ipaddr is not None:
            policy = replace(policy, ipaddr_days=window_days(ipaddr))
        if ceiling is not None:
            policy = replace(policy, ceiling_days=whole_days(ceiling, most=MAX_CEILING_DAYS))
    except ValueError as wrong:
        raise StartError(f"a window {wrong}") from None
    long = longer_than_ceiling(policy)
    if long:
        raise StartError(f"{' and '.join(long)}: longer than the ceiling of {policy.ceiling_days} days")
    return policy
