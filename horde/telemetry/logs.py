"""Logs: one JSON object a line on stderr, with the service, the trace and the request.

Lines of libraries go through the same door. Never log a prompt, a reply, an address or a key.
"""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import orjson
import structlog
from structlog.typing import FilteringBoundLogger, Processor

from horde.settings import TelemetrySettings
from horde.telemetry import faults, tracing


def get(name: str) -> FilteringBoundLogger:
    """The logger of a module: `log = logs.get(__name__)`."""
    logger: FilteringBoundLogger = structlog.get_logger(name)
    return logger


def configure(settings: TelemetrySettings, service: str) -> None:
    """Sends every log line of this process to stderr in the wanted form, from the wanted level on."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _identify(service),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )
    handler = _Lines(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, _without_tasks], processors=_ending(console=settings.log_format == "console")
        )
    )
    root = logging.getLogger()
    for earlier in [known for known in root.handlers if isinstance(known, _Lines)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(level)
    # Libraries that narrate every request or connection; their warnings still arrive.
    for chatty in (
        "uvicorn.access",
        "httpx",
        "httpcore",
        "botocore",
        "boto3",
        "urllib3",
        "alembic",
        "asyncio",
    ):
        logging.getLogger(chatty).setLevel(max(level, logging.WARNING))


class _Lines(logging.StreamHandler[TextIO]):
    """Our handler, told apart from those of a test runner, which stay."""

    def emit(self, record: logging.LogRecord) -> None:
        # Whoever replaced stderr meanwhile (a test, a daemon) means these lines too.
        self.stream = sys.stderr
        super().emit(record)


def _ending(*, console: bool) -> list[Processor]:
    if console:
        # The default formatter of exceptions prints the local variables of every frame, prompts among them.
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=faults.format_console)
        return [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer]
    return [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.ExceptionRenderer(faults.format_exception),
        structlog.processors.EventRenamer("message"),
        _as_json,
    ]


def _identify(service: str) -> Processor:
    def identify(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["service"] = service
        for key, value in tracing.known_ids().items():
            event.setdefault(key, value)
        return event

    return identify


def _without_tasks(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Below its first line, asyncio describes the task that failed, with the message of what it failed with."""
    if event.get("logger") == "asyncio":
        event["event"] = str(event["event"]).partition("\n")[0]
    return event


def _as_json(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
