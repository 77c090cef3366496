"""How long moderation keeps what. A malformed window, or one longer than the ceiling, stops the start."""

from functools import partial
from typing import Annotated, Self

from pydantic import BeforeValidator, model_validator

from horde.contract.retention import (
    MAX_ACCESS_LOG_DAYS,
    MAX_CEILING_DAYS,
    MAX_WORKER_SUSPICION_DAYS,
    RetentionPolicy,
    longer_than_ceiling,
    whole_days,
    window_days,
)
from horde.settings.reading import Settings, env

_Window = Annotated[int | None, BeforeValidator(window_days)]
_Ceiling = Annotated[int, BeforeValidator(partial(whole_days, most=MAX_CEILING_DAYS))]
_AccessLog = Annotated[int, BeforeValidator(partial(whole_days, most=MAX_ACCESS_LOG_DAYS))]


def _suspicion_days(value: object) -> int | None:
    # None comes from code alone; as text it is refused, because a history that ends is what is asked for here.
    return None if value is None else whole_days(value, most=MAX_WORKER_SUSPICION_DAYS)


class RetentionSettings(Settings):
    """The windows of what moderation remembers. Whole days; an empty value is a mistake, not a default."""

    moderation_text_retention_days: _Window = env(
        "HORDE_MODERATION_TEXT_RETENTION_DAYS",
        "Days that texts of events are kept, or none: with their record.",
        None,
        refuses_empty=True,
    )
    moderation_ipaddr_retention_days: _Window = env(
        "HORDE_MODERATION_IPADDR_RETENTION_DAYS",
        "Days that addresses of events and problem jobs are kept, or none: with their record.",
        30,
        refuses_empty=True,
    )
    moderation_evidence_ceiling_days: _Ceiling = env(
        "HORDE_MODERATION_EVIDENCE_CEILING_DAYS",
        "Days, at most 365, after which nothing of a person is kept in an event unless it is held.",
        365,
        refuses_empty=True,
    )
    worker_suspicion_retention_days: Annotated[int | None, BeforeValidator(_suspicion_days)] = env(
        "HORDE_WORKER_SUSPICION_RETENTION_DAYS",
        "Days, at most 36500, that the history of worker suspicions is kept; unset: for good.",
        None,
        refuses_empty=True,
    )
    moderation_access_log_retention_days: _AccessLog = env(
        "HORDE_MODERATION_ACCESS_LOG_RETENTION_DAYS",
        "Days that the log of who read evidence is kept.",
        365,
        refuses_empty=True,
    )

    @model_validator(mode="after")
    def _fit_below_the_ceiling(self) -> Self:
        long = longer_than_ceiling(self.retention)
        if long:
            variables = " and ".join(f"HORDE_MODERATION_{name.upper().replace('_', '_RETENTION_')}" for name in long)
            raise ValueError(f"{variables}: longer than HORDE_MODERATION_EVIDENCE_CEILING_DAYS")
        return self

    @property
    def retention(self) -> RetentionPolicy:
        """The policy, read once; the pass, the listing and the privacy document all use this one."""
        return RetentionPolicy(
            text_days=self.moderation_text_retention_days,
            ipaddr_days=self.moderation_ipaddr_retention_days,
            ceiling_days=self.moderation_evidence_ceiling_days,
            worker_suspicion_days=self.worker_suspicion_retention_days,
            access_log_days=self.moderation_access_log_retention_days,
        )
