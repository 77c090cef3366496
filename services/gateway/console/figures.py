"""What the status page shows, made of the services' answers: plain numbers and the heights of bars, no markup."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from horde_pb.admission.v1.admission_service_pb2 import GetKudosFlowResponse, KudosHour
from horde_pb.dispatch.v1.dispatch_service_pb2 import GetPerformanceResponse, ListModelsResponse
from horde_pb.dispatch.v1.worker_routes_pb2 import ListWorkersResponse
from horde_pb.moderation.v1.moderation_service_pb2 import GetModesResponse

CHART_HEIGHT = 48
"""Units of the drawing, which the browser stretches to the page."""

_MOST_ROWS = 50
"""Rows of a table on the page; the API lists all."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One hour of a chart."""

    place: int
    height: float
    label: str
    """What a pointer over it is told."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One number of each of the last hours."""

    title: str
    total: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that is served."""

    name: str
    workers: int
    queued: int
    speed: str
    longest: int
    """Tokens of the longest answer."""


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker that is online."""

    name: str
    models: str
    speed: str
    threads: int
    fulfilled: int
    kudos: str
    standing: str


@dataclass(frozen=True, slots=True)
class Status:
    """The whole page."""

    notices: Sequence[str]
    counts: Sequence[tuple[str, str]]
    charts: Sequence[Chart]
    models: Sequence[ModelRow]
    more_models: int
    workers: Sequence[WorkerRow]
    more_workers: int


def status(
    performance: GetPerformanceResponse,
    models: ListModelsResponse,
    workers: ListWorkersResponse,
    flow: GetKudosFlowResponse,
    modes: GetModesResponse,
) -> Status:
    """The page of these answers: busiest models first, then the workers that did most."""
    busiest = sorted(models.models, key=lambda model: (-model.queued, -model.chat.workers, model.name))
    hardest = sorted(workers.workers, key=lambda worker: (-worker.requests_fulfilled, worker.name))
    return Status(
        notices=_notices(modes),
        counts=(
            ("workers online", _grouped(performance.text_worker_count)),
            ("threads", _grouped(performance.text_thread_count)),
            ("requests waiting", _grouped(performance.queued_text_requests)),
            ("tokens waiting", _grouped(performance.queued_tokens)),
            ("tokens in the last minute", _grouped(performance.past_minute_tokens)),
        ),
        charts=(
            _chart("paid for replies", flow, lambda hour: hour.paid_hundredths),
            _chart("earned by replies", flow, lambda hour: hour.earned_hundredths),
            _chart("earned by uptime", flow, lambda hour: hour.uptime_hundredths),
        ),
        models=[
            ModelRow(
                name=model.name,
                # Not the model's threads: those count only workers that also take prompts.
                workers=model.chat.workers,
                queued=model.jobs,
                speed=f"{model.performance:.1f}",
                longest=model.chat.max_length,
            )
            for model in busiest[:_MOST_ROWS]
        ],
        more_models=max(0, len(busiest) - _MOST_ROWS),
        workers=[
            WorkerRow(
                name=worker.name,
                models=", ".join(worker.models),
                speed=f"{worker.speed:.1f}" if worker.HasField("speed") else "not measured",
                threads=worker.threads,
                fulfilled=worker.requests_fulfilled,
                kudos=_kudos(worker.kudos_hundredths),
                standing="maintenance" if worker.maintenance else "trusted" if worker.trusted else "new",
            )
            for worker in hardest[:_MOST_ROWS]
        ],
        more_workers=max(0, len(hardest) - _MOST_ROWS),
    )


def chat_models(models: ListModelsResponse) -> Sequence[str]:
    """The names to pick from, busiest crowd of workers first."""
    return [model.name for model in sorted(models.models, key=lambda model: (-model.chat.workers, model.name))]


def _notices(modes: GetModesResponse) -> Sequence[str]:
    notices = []
    if modes.maintenance:
        notices.append("The horde is in maintenance: no new requests are taken.")
    if modes.invite_only:
        notices.append("Workers may join by invitation only.")
    return notices


def _chart(title: str, flow: GetKudosFlowResponse, of: Callable[[KudosHour], int]) -> Chart:
    amounts = [of(hour) for hour in flow.hours]
    highest = max((*amounts, 1))
    return Chart(
        title=title,
        total=_kudos(sum(amounts)),
        bars=[
            Bar(
                place=place,
                height=round(CHART_HEIGHT * amount / highest, 1),
                label=f"{hour.hour.ToDatetime():%H:%M} UTC: {_kudos(amount)} kudos",
            )
            for place, (hour, amount) in enumerate(zip(flow.hours, amounts, strict=True))
        ],
    )


def _kudos(hundredths: int) -> str:
    return _grouped(round(hundredths / 100))


def _grouped(count: int) -> str:
    # A thin space groups digits without looking like a decimal mark in any language.
    return f"{count:,}".replace(",", "\u2009")
