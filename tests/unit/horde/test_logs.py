"""Log lines are one JSON object each, say where they come from, and never show local variables."""

import asyncio
import gc
import logging
from collections.abc import Callable

import orjson
import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.settings import TelemetrySettings
from horde.telemetry import logs, tracing


def lines(capfd: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in capfd.readouterr().err.splitlines()]


def test_a_line_names_its_service_its_trace_and_its_request(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure(TelemetrySettings(), "dispatch")
    tracing.adopt("00-00000000000000000000000000000abc-0000000000000001-00", "request-1")
    logs.get("x").info("claimed", jobs=2)
    (line,) = lines(capfd)
    assert {key: line[key] for key in ("message", "service", "level", "jobs", "trace_id", "request_id")} == {
        "message": "claimed",
        "service": "dispatch",
        "level": "info",
        "jobs": 2,
        "trace_id": "00000000000000000000000000000abc",
        "request_id": "request-1",
    }


def test_lines_of_libraries_go_through_the_same_door(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure(TelemetrySettings(), "dispatch")
    logging.getLogger("some.library").warning("careful: %s", 7)
    (line,) = lines(capfd)
    assert (line["message"], line["service"], line["level"]) == ("careful: 7", "dispatch", "warning")


def test_lines_below_the_level_are_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure(TelemetrySettings(log_level="warning"), "dispatch")
    logs.get("x").info("quiet")
    logging.getLogger("some.library").info("quiet")
    assert lines(capfd) == []


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_traceback_shows_no_local_variables(capfd: pytest.CaptureFixture[str], form: str) -> None:
    logs.configure(TelemetrySettings.model_validate({"log_format": form}), "dispatch")
    secret = "the prompt " + "of a user"
    try:
        {0: secret}[len(secret)]
    except KeyError:
        logs.get("x").exception("fault")
    said = capfd.readouterr().err
    assert "KeyError" in said
    assert "the prompt of a user" not in said


SECRET = "the words " + "of somebody"


def parsed_badly() -> None:
    int(SECRET)


def in_our_words() -> None:
    try:
        parsed_badly()
    except ValueError as error:
        error.add_note("column prompt")
        raise Refusal(reasons.BAD_REQUEST, "our words") from error


def in_a_group() -> None:
    raise ExceptionGroup("several", [ValueError(SECRET), RuntimeError("closed already")])


@pytest.mark.parametrize("form", ["json", "console"])
@pytest.mark.parametrize(
    ("fail", "said"),
    [
        (parsed_badly, ["ValueError", "in parsed_badly"]),
        (in_our_words, ["ValueError", "column prompt", "which led to", "our words"]),
        (in_a_group, ["ValueError", "RuntimeError: closed already"]),
    ],
)
def test_the_message_of_a_librarys_exception_is_not_logged_and_ours_is(
    capfd: pytest.CaptureFixture[str], form: str, fail: Callable[[], None], said: list[str]
) -> None:
    logs.configure(TelemetrySettings.model_validate({"log_format": form}), "dispatch")
    try:
        fail()
    except Exception:  # noqa: BLE001 - whatever it is, it is logged
        logs.get("x").exception("fault")
    printed = capfd.readouterr().err
    assert [word for word in said if word not in printed] == []
    assert SECRET not in printed


async def test_a_task_that_nobody_waited_for_is_logged_without_its_message(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure(TelemetrySettings(), "dispatch")

    async def fail() -> None:
        parsed_badly()

    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    del task
    gc.collect()
    (line,) = lines(capfd)
    assert line["message"] == "Task exception was never retrieved"
    assert "in parsed_badly" in str(line["exception"])
    assert SECRET not in str(line)
