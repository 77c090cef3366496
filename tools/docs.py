"""Make what is written down of the settings from their classes, or prove it fresh: `python -m tools.docs [--check]`.

That is docs/configuration.md for people and deploy/kubernetes/base/settings.env for the ConfigMap; docs/metrics.md is
made of the instruments the same way. Each is documented once, where it is declared; nobody keeps a second list.
"""

import argparse
import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from horde.cli.stack.environment import SERVICES, StackSettings
from horde.settings import Settings, env_names, is_secret
from tools.instruments import instruments
from tools.sizes import ROOT

PAGE = ROOT / "docs" / "configuration.md"
ENV_FILE = ROOT / "deploy" / "kubernetes" / "base" / "settings.env"
METRICS = ROOT / "docs" / "metrics.md"
ADDRESSES = ENV_FILE.with_name("addresses.env")
HEAD = """# Configuration

Made from the settings classes by `./run proto`; do not edit. Every setting is an environment variable. A bad value
stops the start with one message that lists every bad variable.
"""


def settings_classes() -> Iterator[tuple[str, type[Settings]]]:
    """Who reads settings, and the class: each service that there is, in the order of the picture, then `horde up`."""
    for service in ("gateway", *SERVICES[:-1]):
        name = f"services.{service}.settings"
        if not (ROOT / "services" / service / "settings.py").exists():
            continue
        module = importlib.import_module(name)
        found = [
            each
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, Settings) and each.__module__ == name
        ]
        yield service, max(found, key=lambda each: len(each.model_fields))
    yield "horde up", StackSettings


def read_by() -> tuple[dict[str, list[str]], dict[str, FieldInfo]]:
    """Who reads each variable, and its field."""
    readers: dict[str, list[str]] = {}
    fields: dict[str, FieldInfo] = {}
    for reader, cls in settings_classes():
        for field in cls.model_fields.values():
            name = env_names(field)[0]
            readers.setdefault(name, []).append(reader)
            fields.setdefault(name, field)
    return readers, fields


def env_file() -> str:
    """Every setting of the services that has a default and is no secret; where they listen stands in addresses.env.

    What is unset by default is there as a comment: an empty variable is not the same as none.
    """
    readers, fields = read_by()
    elsewhere = {line.partition("=")[0] for line in ADDRESSES.read_text().splitlines()} | {"HORDE_ADDRESS_FILE"}
    lines = ["# Made from the settings classes by `./run proto`; do not edit. An overlay overrides what it wants else."]
    for name in sorted(fields):
        field = fields[name]
        if is_secret(field) or field.is_required() or name in elsewhere or readers[name] == ["horde up"]:
            continue
        default = _default(field)
        lines.append(f"{name}={default.strip('`')}" if default.startswith("`") else f"# {name} is unset")
    return "\n".join(lines) + "\n"


def page() -> str:
    """The whole page."""
    readers, fields = read_by()
    shared = {name for name, who in readers.items() if len(who) > 1}
    parts = [HEAD, _table("Shared by several", sorted(shared), fields, readers)]
    for reader, _ in settings_classes():
        own = sorted(name for name, who in readers.items() if who == [reader])
        if own:
            parts.append(_table(f"Only {reader}", own, fields, readers))
    return "\n".join(parts)


def _table(title: str, names: list[str], fields: dict[str, FieldInfo], readers: dict[str, list[str]]) -> str:
    is_shared = title.startswith("Shared")
    rows = [f"## {title}\n", f"| Variable | Default | Meaning |{' Read by |' if is_shared else ''}"]
    rows.append(f"| --- | --- | --- |{' --- |' if is_shared else ''}")
    for name in names:
        field = fields[name]
        also = "".join(f" (also `{other}`)" for other in env_names(field)[1:])
        secret = " Secret." if is_secret(field) else ""
        who = f" {', '.join(readers[name])} |" if is_shared else ""
        rows.append(f"| `{name}`{also} | {_default(field)} | {field.description or ''}{secret} |{who}")
    return "\n".join(rows) + "\n"


def _default(field: FieldInfo) -> str:
    value: Any = field.default
    if field.default_factory is not None:
        return "see there"
    if value is PydanticUndefined:
        return "required"
    if value is None or value in ("", ()):
        return "unset"
    return f"`{_shown(value)}`"


def _shown(value: object) -> str:
    """The default as one would write it into the variable."""
    match value:
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case tuple():
            return ", ".join(str(each) for each in value)
        case Path():
            return value.as_posix()
        case _:
            return str(value)


METRICS_HEAD = """# Metrics

Made from the code by `./run proto`; do not edit. Every process answers `/metrics` on its own port. Labels are small
closed sets: never an id, a name or an address. A histogram also has `_bucket`, `_sum` and `_count`.
"""


def metrics_page() -> str:
    """The page of all instruments."""
    parts = [METRICS_HEAD]
    for room, group in itertools.groupby(instruments(), key=lambda each: each.room):
        rows = [
            f"| `{one.name}` | {one.kind} | {', '.join(f'`{label}`' for label in one.labels)} | {one.help} |"
            for one in group
        ]
        parts.append(
            "\n".join([f"## {room}\n", "| Metric | Kind | Labels | Meaning |", "| --- | --- | --- | --- |", *rows])
        )
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def main() -> int:
    """Entry point; with --check the exit code is 1 when a file is stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when a file is stale")
    only_check = parser.parse_args().check
    stale = 0
    for path, fresh in ((PAGE, page()), (ENV_FILE, env_file()), (METRICS, metrics_page())):
        if not only_check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fresh)
        elif not path.exists() or path.read_text() != fresh:
            print(f"{path.relative_to(ROOT)} is stale: run `./run proto`", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
