"""What dispatch can be told: fragments that it shares with other services, and where it listens to Postgres."""

from horde.settings import (
    AdmissionPolicySettings,
    GrpcSettings,
    LeaseSettings,
    ModelReferenceSettings,
    NeighbourSettings,
    OffloadSettings,
    PostgresSettings,
    ProgressSettings,
    RequestSettings,
    SecretSettings,
    TelemetrySettings,
    Words,
    WorkerSettings,
    env,
)
from services.dispatch.vpn_check import VpnCheckSettings


class DispatchSettings(
    AdmissionPolicySettings,
    GrpcSettings,
    LeaseSettings,
    ModelReferenceSettings,
    NeighbourSettings,
    OffloadSettings,
    PostgresSettings,
    ProgressSettings,
    RequestSettings,
    SecretSettings,
    TelemetrySettings,
    VpnCheckSettings,
    WorkerSettings,
):
    """The settings of the dispatch process."""

    database_listen_url: str = env(
        "HORDE_DATABASE_LISTEN_URL",
        "PostgreSQL itself, for LISTEN, where HORDE_DATABASE_URL leads to a pooler; unset: HORDE_DATABASE_URL.",
        default_factory=lambda earlier: earlier.get("database_url", ""),
        secret=True,
        pattern=r"^postgres(ql)?://",
    )
    webhook_allowed_hosts: Words = env(
        "HORDE_WEBHOOK_ALLOWED_HOSTS",
        "host:port pairs that webhooks of text requests may name although private; empty in production.",
        (),
    )
    text_stats_retention_days: int = env(
        "HORDE_TEXT_STATS_RETENTION_DAYS",
        "Days that the record of each ended generation is kept beyond its month; sums by period are kept for good.",
        90,
        ge=1,
    )
