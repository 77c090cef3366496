"""What each service gets to know: its own login, its neighbours' addresses, the stores it may use, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from horde.settings import Settings, env

SERVICES = ("admission", "dispatch", "progress", "media", "moderation", "gateway")
WITH_DATABASE = frozenset({"admission", "dispatch", "moderation"})
WITH_OBJECTS = frozenset({"media"})
WITH_EVIDENCE = frozenset({"moderation"})
EVIDENCE_BUCKET = "horde-evidence"


class StackSettings(Settings):
    """Servers of the user's own that take the place of embedded ones, and names the buckets have."""

    database_url: str | None = env(
        "HORDE_DATABASE_URL",
        "An owner's login on a PostgreSQL of your own; unset: the embedded one.",
        None,
        secret=True,
    )
    redis_url: str | None = env(
        "HORDE_REDIS_URL", "A Redis or Valkey of your own; unset: the embedded one.", None, secret=True
    )
    s3_endpoint: str | None = env("HORDE_S3_ENDPOINT", "An S3 store of your own; unset: the embedded one.", None)
    s3_access_key: str | None = env("HORDE_S3_ACCESS_KEY", "The access key of that store.", None, secret=True)
    s3_secret_key: str | None = env("HORDE_S3_SECRET_KEY", "The secret key of that store.", None, secret=True)
    s3_region: str = env("HORDE_S3_REGION", "The region that signatures name.", "auto")
    source_image_bucket: str = env("R2_SOURCE_IMAGE_BUCKET", "The bucket of source images.", "horde-source-images")
    chat_messages_bucket: str | None = env("R2_CHAT_MESSAGES_BUCKET", "The bucket of offloaded messages.", None)
    evidence_account: str | None = env("R2_EVIDENCE_ACCOUNT", "The S3 endpoint of the evidence store.", None)
    evidence_bucket: str | None = env("R2_EVIDENCE_BUCKET", "The bucket of the evidence store.", None)
    secret_key: str | None = env(
        "secret_key", "The salt of the keys; unset: the data folder's own.", None, secret=True, also="HORDE_SECRET_KEY"
    )
    log_format: str | None = env("HORDE_LOG_FORMAT", "json or console.", None)

    @property
    def buckets(self) -> set[str]:
        """The buckets that must exist besides the evidence one."""
        return {self.source_image_bucket, self.chat_messages_bucket or self.source_image_bucket}


@dataclass(frozen=True)
class Stores:
    """Where the stores of this stack are."""

    database_url: str
    """The owner's login."""
    logins: Mapping[str, str]
    """Service → address with that service's own login."""
    redis_url: str
    s3_endpoint: str
    s3_access_key: str
    s3_secret_key: str
    evidence: Mapping[str, str]
    """The evidence store's variables; empty when the user set their own."""


@dataclass(frozen=True)
class Surroundings:
    """Everything that the environment of a service is made from."""

    given: Mapping[str, str]
    """The user's own environment; it passes through, except where this stack decides."""
    stores: Stores
    secret_key: str
    """The salt of the keys: the user's, else the data folder's."""
    gateway_port: int
    grpc_ports: Mapping[str, int]
    run: Path
    log_format: str

    def address_file(self, service: str) -> Path:
        """Where a service writes the addresses it listens on."""
        return self.run / f"{service}.json"

    def target(self, service: str) -> str:
        """The gRPC target of a service."""
        return f"127.0.0.1:{self.grpc_ports[service]}"

    @property
    def gateway_url(self) -> str:
        """Where clients and workers go."""
        return f"http://127.0.0.1:{self.gateway_port}"

    def of(self, service: str) -> dict[str, str]:
        """The environment of one service."""
        stores = self.stores
        mine = {name: value for name, value in self.given.items() if name not in _DECIDED}
        mine |= {f"HORDE_{name.upper()}_TARGET": self.target(name) for name in self.grpc_ports}
        mine |= {
            "HORDE_ADDRESS_FILE": str(self.address_file(service)),
            "HORDE_METRICS_LISTEN": "127.0.0.1:0",
            "HORDE_LOG_FORMAT": self.log_format,
            "HORDE_REDIS_URL": stores.redis_url,
            "HORDE_SECRET_KEY": self.secret_key,
        }
        if service == "gateway":
            mine["HORDE_GATEWAY_LISTEN"] = f"127.0.0.1:{self.gateway_port}"
            # Where it is, not how to open it: moderators' browsers read from it, with links that moderation signs.
            mine |= {name: value for name, value in stores.evidence.items() if name == "R2_EVIDENCE_ACCOUNT"}
        else:
            mine["HORDE_GRPC_LISTEN"] = self.target(service)
        if service in WITH_DATABASE:
            mine["HORDE_DATABASE_URL"] = stores.logins[service]
        if service in WITH_OBJECTS:
            mine["HORDE_S3_ENDPOINT"] = stores.s3_endpoint
            mine["HORDE_S3_ACCESS_KEY"] = stores.s3_access_key
            mine["HORDE_S3_SECRET_KEY"] = stores.s3_secret_key
        if service in WITH_EVIDENCE:
            mine |= stores.evidence
        return mine


_DECIDED = frozenset(
    {
        "HORDE_ADDRESS_FILE",
        "HORDE_DATABASE_URL",
        "HORDE_GATEWAY_LISTEN",
        "HORDE_GRPC_LISTEN",
        "HORDE_METRICS_LISTEN",
        "HORDE_REDIS_URL",
        "HORDE_S3_ACCESS_KEY",
        "HORDE_S3_ENDPOINT",
        "HORDE_S3_SECRET_KEY",
        "HORDE_SECRET_KEY",
        "secret_key",
        *(f"HORDE_{service.upper()}_TARGET" for service in SERVICES),
    }
)
"""Variables that the stack sets itself: what the user has under these names was read into StackSettings, or is no
address of this stack."""
