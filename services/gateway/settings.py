"""What the gateway can be told."""

from typing import Literal

from horde.settings import (
    DrainSettings,
    NeighbourSettings,
    RateLimitSettings,
    RedisSettings,
    Settings,
    TelemetrySettings,
    Words,
    WorkerSettings,
    env,
)


class FrontSettings(Settings):
    """How the OpenAI front under /v1 behaves."""

    front_stream_budget_seconds: float = env(
        "HORDE_FRONT_STREAM_BUDGET_SECONDS", "Seconds one completion may take, queue included.", 600.0, gt=0, le=3600
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


class GatewaySettings(
    FrontSettings,
    DrainSettings,
    NeighbourSettings,
    RateLimitSettings,
    RedisSettings,
    TelemetrySettings,
    WorkerSettings,
):
    """Every setting of the gateway."""

    gateway_listen: str = env(
        "HORDE_GATEWAY_LISTEN",
        "host:port of the public HTTP API; port 0: any.",
        "127.0.0.1:7001",
        pattern=r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$",
    )
    rate_limit_whitelist: Words = env(
        "HORDE_RATE_LIMIT_WHITELIST",
        "Addresses of trusted services that get the higher limits of submits, as a comma or JSON list.",
        (),
    )
