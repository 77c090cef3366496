"""Make docs/configuration.md from the settings classes, or prove that it is fresh: `python -m tools.docs [--check]`.

A setting is documented once, beside its field; nobody keeps a second list.
"""

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from horde.cli.stack.environment import SERVICES, StackSettings
from horde.settings import Settings, env_names, is_secret
from tools.sizes import ROOT

PAGE = ROOT / "docs" / "configuration.md"
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


def page() -> str:
    """The whole page."""
    readers: dict[str, list[str]] = {}
    fields: dict[str, FieldInfo] = {}
    for reader, cls in settings_classes():
        for field in cls.model_fields.values():
            name = env_names(field)[0]
            readers.setdefault(name, []).append(reader)
            fields.setdefault(name, field)
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


def main() -> int:
    """Entry point; with --check the exit code is 1 when the page is stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail when the page is stale")
    fresh = page()
    if not parser.parse_args().check:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(fresh)
        return 0
    if not PAGE.exists() or PAGE.read_text() != fresh:
        print(f"{PAGE.relative_to(ROOT)} is stale: run `./run proto`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
