"""Which waiting pop is worth waking for which jobs: what the queue query would say, as far as a message tells."""

from dataclasses import dataclass
from uuid import UUID

from services.dispatch.rules.matching import Fit


@dataclass(frozen=True, slots=True)
class Notice:
    """Jobs that began to wait. None means that it is not told, so that anything fits."""

    jobs: int
    is_chat: bool
    models: frozenset[str] | None
    features: frozenset[str]
    has_images: bool
    trusted_workers: bool
    validated_backends: bool
    min_speed: float
    max_length: int
    max_context_length: int
    tools_temperature: float | None
    user_id: int | None
    workers: frozenset[UUID] | None
    avoids_workers: bool


def may_fit(notice: Notice, worker: UUID, fit: Fit) -> bool:
    """Whether the worker may get such a job. Never wrong with no; a yes is checked by the pop itself."""
    if fit.owner_only and notice.user_id not in (None, *fit.priority_users):
        return False
    if notice.workers and (worker in notice.workers) is notice.avoids_workers:
        return False
    if (notice.trusted_workers and not fit.trusted) or (notice.validated_backends and not fit.validated):
        return False
    if notice.min_speed > fit.speed:
        return False
    return _chat_may_fit(notice, fit) if notice.is_chat else _text_may_fit(notice, fit)


def _chat_may_fit(notice: Notice, fit: Fit) -> bool:
    too_hot = (
        notice.tools_temperature is not None
        and fit.tools_max_temperature is not None
        and notice.tools_temperature > fit.tools_max_temperature
    )
    return (
        fit.chat_model is not None
        and (notice.models is None or fit.chat_model in notice.models)
        and notice.features.issubset(fit.features)
        and (not notice.has_images or fit.image_transport is not None)
        and notice.max_length <= fit.chat_length
        and notice.max_context_length <= fit.chat_context
        and not too_hot
    )


def _text_may_fit(notice: Notice, fit: Fit) -> bool:
    return (
        bool(fit.text_models)
        and (not notice.models or not notice.models.isdisjoint(fit.text_models))
        and notice.max_length <= fit.text_length
        and notice.max_context_length <= fit.text_context
    )
