"""ListModels, GetPerformance and GetTextStatistics between proto and the rules' words."""

from collections.abc import Sequence

from horde_pb.dispatch.v1 import dispatch_service_pb2 as pb
from horde_pb.dispatch.v1 import models_pb2, statistics_pb2
from services.dispatch.rules.fleet import ChatOffer, Made, ModelStatus, Performance, TextStatistics


def models(statuses: Sequence[ModelStatus]) -> pb.ListModelsResponse:
    """The model list."""
    return pb.ListModelsResponse(models=[_model(status) for status in statuses])


def performance(found: Performance) -> pb.GetPerformanceResponse:
    """The horde in five numbers."""
    return pb.GetPerformanceResponse(
        queued_text_requests=found.queued_requests,
        queued_tokens=found.queued_tokens,
        text_worker_count=found.workers,
        text_thread_count=found.threads,
        past_minute_tokens=found.past_minute_tokens,
    )


def text_statistics(found: TextStatistics) -> statistics_pb2.GetTextStatisticsResponse:
    """What was made, by period and by model."""
    return statistics_pb2.GetTextStatisticsResponse(
        **{name: _made(made) for name, made in found.periods.items()},
        models=[
            statistics_pb2.ModelMade(model=one.model, day=one.day, month=one.month, total=one.total)
            for one in found.models
        ],
    )


def _made(made: Made) -> statistics_pb2.Made:
    return statistics_pb2.Made(requests=made.requests, tokens=made.tokens)


def _model(status: ModelStatus) -> models_pb2.ModelStatus:
    return models_pb2.ModelStatus(
        name=status.name,
        count=status.threads,
        performance=status.performance,
        queued=status.queued,
        jobs=status.jobs,
        eta_seconds=status.eta_seconds,
        custom=status.custom,
        chat=None if status.chat is None else _offer(status.chat),
    )


def _offer(offer: ChatOffer) -> models_pb2.ChatOffer:
    return models_pb2.ChatOffer(
        workers=offer.workers,
        max_context_length=offer.max_context_length,
        max_length=offer.max_length,
        features=offer.features,
        created=None if offer.created is None else int(offer.created.timestamp()),
    )
