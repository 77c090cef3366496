"""What admission reads from its environment."""

from horde.settings import (
    AdmissionPolicySettings,
    FreeOutputSettings,
    GrpcSettings,
    LeaseSettings,
    ModelReferenceSettings,
    NeighbourSettings,
    OffloadSettings,
    PostgresSettings,
    RequestSettings,
    SecretSettings,
    TelemetrySettings,
    WorkerSettings,
)


class AdmissionSettings(
    AdmissionPolicySettings,
    FreeOutputSettings,
    LeaseSettings,
    RequestSettings,
    WorkerSettings,
    ModelReferenceSettings,
    OffloadSettings,
    PostgresSettings,
    NeighbourSettings,
    SecretSettings,
    GrpcSettings,
    TelemetrySettings,
):
    """Every fragment that admission uses; it has no setting of its own."""
