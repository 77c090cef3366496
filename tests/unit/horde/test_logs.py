"""Log lines are one JSON object each, say where they come from, and never show local variables."""

import logging

import orjson
import pytest

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
