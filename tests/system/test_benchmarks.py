"""The benchmarks of admission measure what they say, on a system that runs."""

import asyncio

import pytest
from typer.testing import CliRunner

from horde.cli import application
from horde.cli.bench import stages
from horde.cli.bench.admission import measure as measure_admission
from horde.cli.bench.pop import measure as measure_pop
from horde.cli.bench.report import Report
from horde.cli.bench.roundtrip import measure as measure_roundtrip
from horde.cli.bench.system import System
from horde.cli.bench.validation import BODIES
from horde.cli.bench.validation import measure as measure_validation
from tests.system.services import SECRET, Services


def test_the_admission_benchmark_counts_submits_and_the_cpu_of_each_process(services: Services) -> None:
    pids = {name: process.pid for name, process in services._processes.items()}
    system = System(services.url, services.database_url, SECRET, pids, redis_url="", grpc={})
    reports = asyncio.run(measure_admission(system, seconds=0.5, clients=[1, 2], warm_up=0.2))
    assert [report.title for report in reports] == ["admission, 1 client", "admission, 2 clients"]
    for report in reports:
        told = report.as_dict()
        assert report.errors == {}
        assert report.rate > 0
        assert len(report.calls["chat submit"]) == round(report.rate * report.seconds)
        cpu = told["cpu_ms_per_submit"]
        assert isinstance(cpu, dict)
        assert {"admission", "gateway"} <= cpu.keys()


def test_the_pop_benchmark_pops_from_queues_of_the_lengths_it_was_told(services: Services) -> None:
    pids = {name: process.pid for name, process in services._processes.items()}
    system = System(services.url, services.database_url, SECRET, pids, redis_url="", grpc={})

    async def measured(mix: str, waiting: list[int]) -> list[Report]:
        reports = measure_pop(system, waiting=waiting, mix=mix, seconds=0.5, workers=2, warm_up=0.1)
        return [report async for report in reports]

    for report in [*asyncio.run(measured("length", [20, 50])), *asyncio.run(measured("empty", [20]))]:
        assert report.errors == {}
        assert report.rate > 0
        assert {"dispatch", "gateway", "refilling"} <= report.cpu.keys()


@pytest.mark.parametrize(("front", "call"), [(False, "status"), (True, "completion")])
def test_the_round_trip_is_made_natively_or_through_the_front(services: Services, front: bool, call: str) -> None:
    pids = {name: process.pid for name, process in services._processes.items()}
    system = System(services.url, services.database_url, SECRET, pids, redis_url="", grpc={})
    report = asyncio.run(measure_roundtrip(system, seconds=1.0, clients=2, workers=2, front=front))
    assert report.errors == {}
    assert report.rate > 0
    assert {call, "pop", "submit", "round trip"} <= report.calls.keys()
    assert ("chat submit" in report.calls) is not front


def test_the_benchmarks_of_one_stage_count_that_stage_alone(services: Services) -> None:
    pids = {name: process.pid for name, process in services._processes.items()}
    system = System(services.url, services.database_url, SECRET, pids, redis_url="", grpc={})
    handed_in = asyncio.run(stages.replies(system, seconds=0.1, workers=2))
    read = asyncio.run(stages.status(system, seconds=0.3, clients=2, waiting=5))
    for report, call in ((handed_in, "submit"), (read, "status")):
        assert report.errors == {}
        assert list(report.calls) == [call]
        assert report.rate > 0
        assert {"dispatch", "gateway"} <= report.cpu.keys()


def test_the_validation_benchmark_takes_what_is_right_and_refuses_what_is_not() -> None:
    report = measure_validation(seconds=0.01)
    assert list(report.calls) == list(BODIES)
    assert all(report.calls.values())


def test_the_benchmarks_are_commands() -> None:
    told = CliRunner().invoke(application("bench"), ["bench", "--help"]).output
    assert "admission" in told
    assert "validation" in told
