"""What a benchmark found: calls by name, rates, CPU by process; as a table or as JSON."""

import json
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.table import Table

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pids: Mapping[str, int]) -> dict[str, float]:
    """CPU each process and its children have used so far; processes that are gone are left out. Linux only."""
    used: dict[str, float] = defaultdict(float)
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        parents[int(entry.name)] = int(fields[1])
        times[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
    names = {pid: name for name, pid in pids.items()}
    for pid, seconds in times.items():
        owner = pid
        while owner not in names and owner in parents:
            owner = parents[owner]
        if owner in names:
            used[names[owner]] += seconds
    return dict(used)


@dataclass
class Recorder:
    """Durations of calls, by name, in seconds. Only what ends inside the measured window counts."""

    calls: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    recording: bool = False

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time one call."""
        start = perf_counter()
        yield
        if self.recording:
            self.calls[name].append(perf_counter() - start)

    def failed(self, name: str, status: int) -> None:
        """Count an answer that was not expected."""
        if self.recording:
            self.errors[f"{name} {status}"] += 1


@dataclass(frozen=True)
class Report:
    """One run. `unit` is what `rate` counts, per second."""

    title: str
    unit: str
    rate: float
    seconds: float
    calls: Mapping[str, list[float]]
    errors: Mapping[str, int]
    cpu: Mapping[str, float]

    def as_dict(self) -> dict[str, object]:
        """The JSON form; durations in milliseconds, CPU as a share of one core and in milliseconds per unit."""
        done = max(self.rate * self.seconds, 1)
        return {
            "title": self.title,
            f"{self.unit}_per_second": round(self.rate, 1),
            "seconds": round(self.seconds, 2),
            "calls": {
                name: {
                    "per_second": round(len(times) / self.seconds, 1),
                    "p50_ms": _ms(times, 0.50),
                    "p95_ms": _ms(times, 0.95),
                    "p99_ms": _ms(times, 0.99),
                }
                for name, times in self.calls.items()
            },
            "errors": dict(self.errors),
            "cpu_cores": {name: round(used / self.seconds, 3) for name, used in self.cpu.items()},
            f"cpu_ms_per_{self.unit}": {name: round(1000 * used / done, 2) for name, used in self.cpu.items()},
        }


def _ms(times: list[float], quantile: float) -> float:
    if not times:
        return math.nan
    ordered = sorted(times)
    return round(1000 * ordered[min(int(quantile * len(ordered)), len(ordered) - 1)], 2)


def show(report: Report, *, as_json: bool) -> None:
    """Print the report on stdout."""
    if as_json:
        print(json.dumps(report.as_dict()))
        return
    console = Console()
    console.print(f"[bold]{report.title}[/]: {report.rate:.1f} {report.unit}s per second over {report.seconds:.1f} s")
    calls = Table("call", "per second", "p50 ms", "p95 ms", "p99 ms")
    for name, times in report.calls.items():
        quantiles = (f"{_ms(times, quantile):.2f}" for quantile in (0.5, 0.95, 0.99))
        calls.add_row(name, f"{len(times) / report.seconds:.1f}", *quantiles)
    console.print(calls)
    processes = Table("process", "cores", f"ms per {report.unit}")
    done = max(report.rate * report.seconds, 1)
    for name, used in sorted(report.cpu.items(), key=lambda item: -item[1]):
        processes.add_row(name, f"{used / report.seconds:.2f}", f"{1000 * used / done:.2f}")
    processes.add_row(
        "all", f"{sum(report.cpu.values()) / report.seconds:.2f}", f"{1000 * sum(report.cpu.values()) / done:.2f}"
    )
    console.print(processes)
    for what, count in report.errors.items():
        console.print(f"[red]{count} times {what}[/]")
