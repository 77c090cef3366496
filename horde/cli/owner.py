"""Whose database a command works on: the environment's, else the one a running stack wrote down in its data folder."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from horde.failures import StartError

DATA_DIR = Path(".horde")
"""Where `horde up` keeps its data unless told otherwise."""


@dataclass(frozen=True)
class Owner:
    """A login that sees every schema, and the salt of the keys ("" when it is not known)."""

    url: str
    secret: str

    @property
    def secret_key(self) -> str:
        """The salt of the keys. Raises StartError when neither the environment nor the data folder has it."""
        if not self.secret:
            raise StartError("the salt of the keys is not known; set HORDE_SECRET_KEY to the one the services run with")
        return self.secret


def owner_of(data_dir: Path) -> Owner:
    """HORDE_DATABASE_URL and HORDE_SECRET_KEY, each falling back to the data folder.

    Raises StartError when neither names a database.
    """
    url = os.environ.get("HORDE_DATABASE_URL") or _read(data_dir / "stack.json").get("database_url", "")
    if not url:
        raise StartError(f"no database: set HORDE_DATABASE_URL, or start `horde up --data-dir {data_dir}` first")
    secret = os.environ.get("secret_key") or os.environ.get("HORDE_SECRET_KEY")  # noqa: SIM112 - the reference's own spelling
    return Owner(url, secret or _read(data_dir / "secrets.json").get("secret_key", ""))


def _read(path: Path) -> dict[str, str]:
    try:
        read = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as wrong:
        raise StartError(f"{path} cannot be read: {wrong}") from None
    return read if isinstance(read, dict) else {}
