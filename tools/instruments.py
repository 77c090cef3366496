"""The instruments that the code declares, read from its source: what docs/metrics.md lists and dashboards may name."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.sizes import ROOT

KINDS = {"Counter": "counter", "Gauge": "gauge", "Histogram": "histogram"}


@dataclass(frozen=True, order=True, slots=True)
class Instrument:
    """One metric: who exports it, its name as Prometheus shows it, and what its labels are."""

    room: str
    """A service's name, or `every service` for what the foundation measures."""
    name: str
    kind: str
    help: str
    labels: tuple[str, ...]


def instruments() -> list[Instrument]:
    """All of them, by room and name. Raises ValueError for one whose name, help or labels are not written out."""
    found: list[Instrument] = []
    for folder in ("horde", "services"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.is_relative_to(ROOT / "horde" / "cli"):
                continue
            found += _declared(path)
    return sorted(found)


def _declared(path: Path) -> Iterator[Instrument]:
    where = path.relative_to(ROOT)
    room = where.parts[1] if where.parts[0] == "services" else "every service"
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            # Python's own Counter counts things; a metric has a name.
            case ast.Call(func=ast.Name(id=kind), args=[ast.Constant(value=str()), *_]) if kind in KINDS:
                try:
                    name, told, *labels = [ast.literal_eval(each) for each in node.args[:3]]
                except ValueError as error:
                    raise ValueError(f"{where}:{node.lineno}: write name, help and labels out") from error
                shown = name if kind != "Counter" or name.endswith("_total") else f"{name}_total"
                yield Instrument(room, shown, KINDS[kind], told, tuple(labels[0]) if labels else ())
