"""What media can be told from outside."""

from horde.settings import (
    GrpcSettings,
    OffloadSettings,
    RedisSettings,
    RequestSettings,
    S3Settings,
    TelemetrySettings,
    env,
)


class MediaSettings(GrpcSettings, TelemetrySettings, RedisSettings, S3Settings, OffloadSettings, RequestSettings):
    """Everything media reads from its environment."""

    media_decoders: int = env("HORDE_MEDIA_DECODERS", "Images that are decoded side by side.", 2, ge=1, le=64)
    media_decode_seconds: float = env(
        "HORDE_MEDIA_DECODE_SECONDS", "Seconds one image may take before it counts as unreadable.", 15.0, gt=0, le=120
    )
    media_decode_queue_seconds: float = env(
        "HORDE_MEDIA_DECODE_QUEUE_SECONDS", "Seconds an image waits for a decoder at most.", 20.0, gt=0, le=120
    )
    media_decoder_memory_mib: int = env(
        "HORDE_MEDIA_DECODER_MEMORY_MIB", "Address space in MiB that one decoder may use.", 1024, ge=256, le=16_384
    )
    media_transfers: int = env(
        "HORDE_MEDIA_TRANSFERS", "Objects that are moved to or from the store at once.", 16, ge=1, le=256
    )
    media_offloads: int = env(
        "HORDE_MEDIA_OFFLOADS", "Messages objects that are made at once, of up to 36 MB each.", 2, ge=1, le=64
    )
    media_fetches: int = env("HORDE_MEDIA_FETCHES", "Images that are fetched from the web at once.", 32, ge=1, le=1024)
