"""Settings of the machinery: where stores and neighbours are, where to listen, what to log."""

from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from horde.settings.reading import Settings, Words, env

_POSTGRES_URL = r"^postgres(ql)?://"
_REDIS_URL = r"^(rediss?://|unix://|redis\+sentinel://[^/]+/[^/?]+(\?|/?$))"
_LISTEN = r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$"


class PostgresSettings(Settings):
    """Where the database is and how hard it may be leaned on."""

    database_url: str = env(
        "HORDE_DATABASE_URL",
        "The PostgreSQL database, as postgresql://user:password@host:port/name.",
        secret=True,
        pattern=_POSTGRES_URL,
    )
    database_pool_size: int = env("HORDE_DATABASE_POOL_SIZE", "Connections one process may hold.", 8, ge=1, le=500)
    database_statement_cache: int = env(
        "HORDE_DATABASE_STATEMENT_CACHE",
        "Prepared statements kept per connection; 0 behind a pooler that cannot track them.",
        256,
        ge=0,
        le=10_000,
    )
    database_wait_seconds: float = env(
        "HORDE_DATABASE_WAIT_SECONDS",
        "Seconds to wait for a free or new connection before giving up.",
        5.0,
        gt=0,
        le=60,
    )
    database_statement_seconds: float = env(
        "HORDE_DATABASE_STATEMENT_SECONDS",
        "Seconds one statement may take before it is cancelled.",
        30.0,
        gt=0,
        le=3600,
    )


class RedisSettings(Settings):
    """Where Redis or Valkey is."""

    redis_url: str = env(
        "HORDE_REDIS_URL",
        "Redis or Valkey, as redis://:password@host:port/0, or by its Sentinels, as "
        "redis+sentinel://:password@host:port,host:port,host:port/NAME-OF-THE-PRIMARY.",
        secret=True,
        pattern=_REDIS_URL,
    )
    redis_pool_size: int = env("HORDE_REDIS_POOL_SIZE", "Connections one process may hold.", 32, ge=1, le=10_000)
    redis_timeout_seconds: float = env(
        "HORDE_REDIS_TIMEOUT_SECONDS", "Seconds to wait for a connection or an answer.", 2.0, gt=0, le=60
    )


class S3Settings(Settings):
    """Where objects are kept. Any store that speaks S3."""

    s3_endpoint: str = env("HORDE_S3_ENDPOINT", "The S3 endpoint, as http(s)://host:port.", pattern=r"^https?://")
    s3_access_key: str = env("HORDE_S3_ACCESS_KEY", "The access key of the S3 account.", secret=True, min_length=1)
    s3_secret_key: str = env("HORDE_S3_SECRET_KEY", "The secret key of the S3 account.", secret=True, min_length=1)
    s3_region: str = env("HORDE_S3_REGION", "The region that signatures name.", "auto")
    source_image_bucket: str = env(
        "R2_SOURCE_IMAGE_BUCKET", "The bucket of source images.", "horde-source-images", min_length=3
    )
    chat_messages_bucket: str = env(
        "R2_CHAT_MESSAGES_BUCKET",
        "The bucket of offloaded messages; unset: the source image bucket.",
        default_factory=lambda earlier: earlier.get("source_image_bucket", ""),
        min_length=3,
    )


class EvidenceSettings(Settings):
    """Where evidence is kept, apart from every other object. One of account, bucket and keys unset: no store."""

    evidence_account: str | None = env(
        "R2_EVIDENCE_ACCOUNT", "The S3 endpoint of the evidence store.", None, pattern=r"^https?://"
    )
    evidence_bucket: str | None = env("R2_EVIDENCE_BUCKET", "The bucket of the evidence store.", None, min_length=3)
    evidence_access_key: str | None = env(
        "EVIDENCE_AWS_ACCESS_KEY_ID", "The access key of the evidence store.", None, secret=True
    )
    evidence_secret_key: str | None = env(
        "EVIDENCE_AWS_SECRET_ACCESS_KEY", "The secret key of the evidence store.", None, secret=True
    )
    evidence_region: str = env("R2_EVIDENCE_REGION", "The region that signatures of the evidence store name.", "auto")


class DrainSettings(Settings):
    """How a process leaves."""

    metrics_listen: str = env(
        "HORDE_METRICS_LISTEN",
        "host:port of /metrics, /healthz and /readyz; port 0: any.",
        "127.0.0.1:0",
        pattern=_LISTEN,
    )
    drain_seconds: float = env(
        "HORDE_DRAIN_SECONDS",
        "Seconds from the stop signal until the process is gone, work in flight included.",
        20.0,
        ge=0,
        le=600,
    )
    address_file: Path | None = env(
        "HORDE_ADDRESS_FILE", "A file that gets the real addresses once the process listens, as JSON.", None
    )


class TlsSettings(Settings):
    """How services prove to each other who they are. All three files or none; none: gRPC in plain text."""

    tls_cert_file: Path | None = env(
        "HORDE_TLS_CERT_FILE",
        "The certificate of this service, as PEM, with the service's name as a DNS name; unset: no TLS.",
        None,
    )
    tls_key_file: Path | None = env("HORDE_TLS_KEY_FILE", "The private key of that certificate, as PEM.", None)
    tls_ca_file: Path | None = env(
        "HORDE_TLS_CA_FILE", "The authority that every service's certificate must come from, as PEM.", None
    )

    @model_validator(mode="after")
    def _name_all_files_or_none(self) -> Self:
        files = (self.tls_cert_file, self.tls_key_file, self.tls_ca_file)
        if any(files) and not all(files):
            raise ValueError("HORDE_TLS_CERT_FILE, HORDE_TLS_KEY_FILE and HORDE_TLS_CA_FILE: set all three, or none")
        return self


class GrpcSettings(DrainSettings, TlsSettings):
    """Where a service listens, and to whom."""

    grpc_listen: str = env("HORDE_GRPC_LISTEN", "host:port of gRPC; port 0: any.", "127.0.0.1:0", pattern=_LISTEN)
    tls_allowed_callers: Words = env(
        "HORDE_TLS_ALLOWED_CALLERS",
        "Services that may call this one, as their certificates name them; required with HORDE_TLS_CERT_FILE.",
        (),
    )


class NeighbourSettings(TlsSettings):
    """Where the services are. A target is anything gRPC resolves: host:port, dns:///name:port, unix:path."""

    admission_target: str = env(
        "HORDE_ADMISSION_TARGET", "The gRPC target of admission.", "127.0.0.1:7101", min_length=1
    )
    dispatch_target: str = env("HORDE_DISPATCH_TARGET", "The gRPC target of dispatch.", "127.0.0.1:7102", min_length=1)
    progress_target: str = env("HORDE_PROGRESS_TARGET", "The gRPC target of progress.", "127.0.0.1:7103", min_length=1)
    media_target: str = env("HORDE_MEDIA_TARGET", "The gRPC target of media.", "127.0.0.1:7104", min_length=1)
    moderation_target: str = env(
        "HORDE_MODERATION_TARGET", "The gRPC target of moderation.", "127.0.0.1:7105", min_length=1
    )


class SecretSettings(Settings):
    """What makes hashes of this horde unlike those of any other."""

    secret_key: str = env(
        "secret_key",
        "The salt of API key hashes and pseudonyms; changing it locks every account out.",
        secret=True,
        also="HORDE_SECRET_KEY",
        min_length=1,
    )


class TelemetrySettings(Settings):
    """What a process tells about itself."""

    otlp_endpoint: str | None = env(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "The OTLP/gRPC collector of traces, as http(s)://host:port; unset: no traces.",
        None,
        pattern=r"^https?://",
    )
    trace_ratio: float = env("HORDE_TRACE_RATIO", "The share of new traces that are recorded, 0 to 1.", 1.0, ge=0, le=1)
    log_level: Literal["debug", "info", "warning", "error"] = env(
        "HORDE_LOG_LEVEL", "The least severe line that is logged.", "info"
    )
    log_format: Literal["json", "console"] = env("HORDE_LOG_FORMAT", "json for machines, console for people.", "json")
