"""Every setting that two services share, and how settings are read.

One field is one environment variable with its type, its default and a sentence; `docs/configuration.md` is made
from them. A field is named like its variable, in lower case, without `HORDE_`. Read them with
`load(MySettings)`; nothing else in the tree touches the environment.
"""

from horde.settings.domain import (
    AdmissionPolicySettings,
    FreeOutputSettings,
    LeaseSettings,
    ModelReferenceSettings,
    ModerationSettings,
    OffloadSettings,
    OperatorSettings,
    ProgressSettings,
    RateLimitSettings,
    RequestSettings,
    ServiceAddressSettings,
    WorkerSettings,
)
from horde.settings.reading import Numbers, Settings, SettingsError, Words, env, env_names, is_secret, load
from horde.settings.runtime import (
    DrainSettings,
    EvidenceSettings,
    GrpcSettings,
    NeighbourSettings,
    PostgresSettings,
    RedisSettings,
    S3Settings,
    SecretSettings,
    TelemetrySettings,
    TlsSettings,
)
from horde.settings.windows import RetentionSettings

__all__ = [
    "AdmissionPolicySettings",
    "DrainSettings",
    "EvidenceSettings",
    "FreeOutputSettings",
    "GrpcSettings",
    "LeaseSettings",
    "ModelReferenceSettings",
    "ModerationSettings",
    "NeighbourSettings",
    "Numbers",
    "OffloadSettings",
    "OperatorSettings",
    "PostgresSettings",
    "ProgressSettings",
    "RateLimitSettings",
    "RedisSettings",
    "RequestSettings",
    "RetentionSettings",
    "S3Settings",
    "SecretSettings",
    "ServiceAddressSettings",
    "Settings",
    "SettingsError",
    "TelemetrySettings",
    "TlsSettings",
    "Words",
    "WorkerSettings",
    "env",
    "env_names",
    "is_secret",
    "load",
]
