"""Whether the database and this code belong together."""

import re
from functools import cache
from importlib import resources
from urllib.parse import urlsplit

from horde.failures import StartError
from horde.store.queries import Query

FOUND = Query.load("horde.store", "schema_version")


_REVISION = re.compile(r"""^revision\b[^=\n]*=\s*["']([^"']+)["']""", re.MULTILINE)


@cache
def known() -> tuple[str, ...]:
    """The revisions this code has, oldest first: `migrations/versions/*.py`, whose names sort by time.

    Read with one expression, because a service that only checks should not have to load Alembic.
    """
    folder = resources.files("horde.store") / "migrations" / "versions"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".py")), key=lambda entry: entry.name)
    found = [_REVISION.search(entry.read_text(encoding="utf-8")) for entry in files]
    return tuple(match[1] for match in found if match is not None)


def compare(found: str | None) -> None:
    """Raises StartError unless the database stands exactly where this code expects it. `found` None: never migrated."""
    wanted = known()[-1]
    if found is None:
        raise StartError("the database is empty; run `horde migrate`")
    if found == wanted:
        return
    if found in known():
        raise StartError(f"the database is behind this code (at {found}, wanted {wanted}); run `horde migrate`")
    raise StartError(f"the database is newer than this code (at {found}, known up to {wanted}); upgrade the code")


def place(url: str) -> str:
    """Where a database is, without who may enter: `host:port/name`."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 5432}{parts.path}"
