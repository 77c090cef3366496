"""What dispatch can be told: fragments that it shares with other services, and nothing of its own yet."""

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
)


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
    WorkerSettings,
):
    """The settings of the dispatch process."""
