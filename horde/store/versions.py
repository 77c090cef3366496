"""Whether the database and this code belong together.

Revisions expand, so the code before a revision works after it: a service accepts a database that is newer than itself,
down to the floor that the migrator writes there. Only a revision that contracts raises the floor.
"""

import re
from functools import cache
from importlib import resources
from urllib.parse import urlsplit

from horde.failures import StartError
from horde.store.queries import Query

FOUND = Query.load("horde.store", "schema_version")
FLOOR = Query.load("horde.store", "schema_floor")

_REVISION = re.compile(r"""^revision\b[^=\n]*=\s*["']([^"']+)["']""", re.MULTILINE)
_OLDEST_CODE = re.compile(r"""^oldest_code\b[^=\n]*=\s*["']([^"']+)["']""", re.MULTILINE)


@cache
def known() -> tuple[str, ...]:
    """The revisions this code has, oldest first: `migrations/versions/*.py`, whose names sort by time.

    Read with one expression, because a service that only checks should not have to load Alembic.
    """
    return tuple(match[1] for text in _files() if (match := _REVISION.search(text)) is not None)


def floor() -> str:
    """The oldest code that works after every revision of this code, named by the newest revision such code knows."""
    raised = [match[1] for text in _files() if (match := _OLDEST_CODE.search(text)) is not None]
    return max(raised, default=known()[0])


def compare(found: str | None, floor: str | None) -> None:
    """Raises StartError unless this code works on the database that stands at `found`; None: it was never migrated.

    `floor` is what the database says of the oldest code that works on it; None: it does not say.
    """
    wanted = known()[-1]
    if found is None:
        raise StartError("the database is empty; run `horde migrate`")
    if found == wanted or is_newer_and_fits(found, floor):
        return
    if found in known():
        raise StartError(f"the database is behind this code (at {found}, wanted {wanted}); run `horde migrate`")
    least = "" if floor is None else f", which wants code of {floor} at least"
    raise StartError(
        f"the database is newer than this code (at {found}{least}; known up to {wanted}); upgrade the code"
    )


def is_newer_and_fits(found: str, floor: str | None) -> bool:
    """Whether newer code has migrated the database, and this code still works on it."""
    return found not in known() and floor is not None and floor <= known()[-1]


def place(url: str) -> str:
    """Where a database is, without who may enter: `host:port/name`."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 5432}{parts.path}"


def _files() -> list[str]:
    folder = resources.files("horde.store") / "migrations" / "versions"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".py")), key=lambda entry: entry.name)
    return [entry.read_text(encoding="utf-8") for entry in files]
