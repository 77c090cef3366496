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
