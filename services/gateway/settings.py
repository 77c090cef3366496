"""What the gateway can be told."""

from typing import Literal

from horde.settings import (
    DrainSettings,
    NeighbourSettings,
    RateLimitSettings,
    RedisSettings,
    ServiceAddressSettings,
    Settings,
    TelemetrySettings,
    WorkerSettings,
    env,
)


class FrontSettings(Settings):
    """How the OpenAI front under /v1 behaves."""

    front_stream_budget_seconds: float = env(
        "HORDE_FRONT_STREAM_BUDGET_SECONDS", "Seconds one completion may take, queue included.", 600.0, gt=0, le=3600
    )
    front_stalled_seconds: float = env(
        "HORDE_FRONT_STALLED_SECONDS",
        "Seconds beyond its budget that a stream may take to be read by its client.",
        300.0,
        gt=0,
    )
    front_grace_seconds: float = env(
        "HORDE_FRONT_GRACE_SECONDS", "Seconds a request waits while no worker can serve it.", 60.0, ge=0
    )
    front_keepalive: Literal["comment", "chunk", "off"] = env(
        "HORDE_FRONT_KEEPALIVE", "What keeps a silent stream open: comment lines, empty chunks, or nothing.", "comment"
    )
    front_keepalive_seconds: float = env(
        "HORDE_FRONT_KEEPALIVE_SECONDS", "Seconds of silence after which a stream says that it lives.", 10.0, gt=0
    )
    front_abandoned_seconds: float = env(
        "HORDE_FRONT_ABANDONED_SECONDS",
        "Seconds a request outlives its client when the client's kind usually tries again.",
        30.0,
        ge=0,
    )
    front_min_output_tokens: Literal["refuse", "raise"] = env(
        "HORDE_FRONT_MIN_OUTPUT_TOKENS", "What happens to fewer than 16 tokens: refuse them or raise them.", "refuse"
    )
    front_restart: Literal["reconcile", "buffer"] = env(
        "HORDE_FRONT_RESTART",
        "How a restarted reply is handled: reconcile what was sent, or send nothing early.",
        "reconcile",
    )
    front_error_close: Literal["abort", "done"] = env(
        "HORDE_FRONT_ERROR_CLOSE",
        "How a stream ends after an error: the connection is cut, or closed in order behind [DONE].",
        "abort",
    )
    front_attach_retries: bool = env(
        "HORDE_FRONT_ATTACH_RETRIES",
        "Whether an SDK's own repeat of a call that lost its connection gets the request of its first try.",
        default=True,
    )


class PublicSettings(Settings):
    """What the horde tells of itself."""

    title: str = env("HORDE_TITLE", "The name of this horde.", "chat-horde", min_length=1)
    url: str | None = env(
        "HORDE_URL", "Where people find this horde, as http(s)://host/path.", None, pattern=r"^https?://[^/]+"
    )
    email: str | None = env("HORDE_EMAIL", "Whom people write to about this horde.", None)
    repository: str = env(
        "HORDE_REPOSITORY",
        "Where the source code of what runs here is published.",
        "https://github.com/chat-horde/chat-horde",
        pattern=r"^https?://[^/]+",
    )
    test_api_keys: bool = env(
        "HORDE_TEST_APIKEYS", "Whether callers on this machine may make accounts for tests.", default=False
    )


class GatewaySettings(
    FrontSettings,
    PublicSettings,
    DrainSettings,
    NeighbourSettings,
    RateLimitSettings,
    RedisSettings,
    ServiceAddressSettings,
    TelemetrySettings,
    WorkerSettings,
):
    """Every setting of the gateway."""

    evidence_account: str | None = env(
        "R2_EVIDENCE_ACCOUNT",
        "The S3 endpoint of the evidence store.",
        None,
        pattern=r"^https?://[A-Za-z0-9.:\[\]-]+",
    )
    gateway_listen: str = env(
        "HORDE_GATEWAY_LISTEN",
        "host:port of the public HTTP API; port 0: any.",
        "127.0.0.1:7001",
        pattern=r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$",
    )
