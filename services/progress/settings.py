"""The settings of progress: fragments only, it has no number of its own."""

from horde.settings import (
    GrpcSettings,
    LeaseSettings,
    NeighbourSettings,
    ProgressSettings,
    RedisSettings,
    SecretSettings,
    TelemetrySettings,
)


class ProgressServiceSettings(
    GrpcSettings,
    TelemetrySettings,
    RedisSettings,
    NeighbourSettings,
    SecretSettings,
    LeaseSettings,
    ProgressSettings,
):
    """Everything one progress process reads from its environment."""
