"""What moderation can be told from outside."""

from horde.settings import (
    EvidenceSettings,
    GrpcSettings,
    ModerationSettings,
    OperatorSettings,
    PostgresSettings,
    RedisSettings,
    RetentionSettings,
    ServiceAddressSettings,
    TelemetrySettings,
    env,
)


class ModerationServiceSettings(
    GrpcSettings,
    TelemetrySettings,
    PostgresSettings,
    RedisSettings,
    ModerationSettings,
    RetentionSettings,
    EvidenceSettings,
    OperatorSettings,
    ServiceAddressSettings,
):
    """Everything moderation reads from its environment."""

    # Not the shared fragment: without a real secret moderation works on, it only makes no pseudonyms.
    secret_key: str | None = env(
        "secret_key",
        "The secret of pseudonyms of addresses; unset or a known example value: none are made.",
        None,
        secret=True,
        also="HORDE_SECRET_KEY",
    )
    moderation_filter_refresh_seconds: float = env(
        "HORDE_MODERATION_FILTER_REFRESH_SECONDS", "Seconds after which filters are read again.", 2.0, gt=0, le=60
    )
    moderation_filter_seconds: float = env(
        "HORDE_MODERATION_FILTER_SECONDS",
        "Seconds one filter may work on a text; more counts as a match. All get four times that.",
        1.0,
        gt=0,
        le=30,
    )
