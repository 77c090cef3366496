"""Numbers of the domain that more than one service reads. Defaults are those of the reference documents.

A fragment is one subject; a service inherits from the subjects it needs, so two services that read one
variable can never disagree on its default.
"""

from decimal import Decimal

from horde.settings.reading import Numbers, Settings, Whole, Words, env

FLASK_LIMIT = r"^\s*\d+\s*(/|per)\s*(\d+\s*)?(second|minute|hour|day)s?\s*$"
"""One limit in flask-limiter notation: `2/second`, `90 per minute`, `5 per 10 seconds`."""


class LeaseSettings(Settings):
    """How long a worker may hold a job."""

    text_job_lease_seconds: int = env(
        "HORDE_TEXT_JOB_LEASE_SECONDS", "Seconds a worker holds a job for; progress renews them.", 150, ge=1
    )
    text_job_preparation_seconds: int = env(
        "HORDE_TEXT_JOB_PREPARATION_SECONDS",
        "Seconds of the lease that are not for generating: the speed gate counts without them.",
        30,
        ge=0,
    )
    trusted_text_job_lease_cap_seconds: int = env(
        "HORDE_TRUSTED_TEXT_JOB_LEASE_CAP_SECONDS",
        "The longest lease from the pop of a trusted owner's worker, in seconds.",
        600,
        ge=1,
    )
    untrusted_text_job_lease_cap_seconds: int = env(
        "HORDE_UNTRUSTED_TEXT_JOB_LEASE_CAP_SECONDS",
        "The longest lease from the pop of an untrusted owner's worker, in seconds.",
        200,
        ge=1,
    )


class ProgressSettings(Settings):
    """How long a generation's stream and the lease of progress live."""

    chat_progress_lease_grace_seconds: int = env(
        "HORDE_CHAT_PROGRESS_LEASE_GRACE_SECONDS",
        "Seconds a stream lease outlives the job's lease.",
        90,
        ge=1,
    )
    chat_progress_stream_ttl_seconds: int = env(
        "HORDE_CHAT_PROGRESS_STREAM_TTL_SECONDS",
        "Seconds a progress stream outlives its last entry.",
        900,
        ge=1,
    )


class RequestSettings(Settings):
    """How long a request lives and when it counts as faulted."""

    request_ttl_seconds: int = env(
        "HORDE_REQUEST_TTL_SECONDS", "Seconds a request lives; each pop of it starts them anew.", 1200, ge=1
    )
    faulted_generations_limit: int = env(
        "HORDE_FAULTED_GENERATIONS_LIMIT",
        "A request with more faulted generations than this is faulted.",
        2,
        ge=0,
    )
    cleanup_interval_seconds: float = env(
        "HORDE_CLEANUP_INTERVAL_SECONDS",
        "Seconds between passes over stale jobs, expired requests and due deletes.",
        60.0,
        gt=0,
    )


class FreeOutputSettings(Settings):
    """How much output a request gets without upfront kudos, from an idle to a loaded fleet."""

    text_free_output_ceiling: int = env(
        "HORDE_TEXT_FREE_OUTPUT_CEILING", "Tokens an idle fleet serves free.", 4096, ge=0
    )
    text_free_output_floor: int = env(
        "HORDE_TEXT_FREE_OUTPUT_FLOOR", "Tokens that stay free under any load.", 512, ge=0
    )
    text_free_output_wait_full_seconds: float = env(
        "HORDE_TEXT_FREE_OUTPUT_WAIT_FULL_SECONDS",
        "Up to this many seconds of queue the ceiling is free.",
        60.0,
        ge=0,
    )
    text_free_output_wait_floor_seconds: float = env(
        "HORDE_TEXT_FREE_OUTPUT_WAIT_FLOOR_SECONDS",
        "From this many seconds of queue only the floor is free.",
        300.0,
        ge=0,
    )


class OperatorSettings(Settings):
    """Who may do everything."""

    admins: Words = env("ADMINS", "Aliases (name#id) of accounts that may do everything, as a comma or JSON list.", ())


class AdmissionPolicySettings(OperatorSettings):
    """Which requests may enter at all, and what targeting costs."""

    chat_admission_enabled: bool = env(
        "HORDE_CHAT_ADMISSION_ENABLED", "Whether new chat requests are accepted.", default=True
    )
    upfront_kudos_on_workerlist: bool = env(
        "HORDE_UPFRONT_KUDOS_ON_WORKERLIST",
        "Whether a request that names workers needs its kudos up front.",
        default=False,
    )
    require_matched_targeting: bool = env(
        "HORDE_REQUIRE_MATCHED_TARGETING",
        "Whether replies to requests that name workers earn 0.1 kudos.",
        default=False,
    )
    kudos_trust_threshold: Decimal | None = env(
        "KUDOS_TRUST_THRESHOLD",
        "Evaluating kudos that an account has to exceed to become trusted, up to two decimals; unset: none do.",
        None,
        ge=0,
        le=10**12,
        decimal_places=2,
    )

    @property
    def trust_threshold(self) -> int | None:
        """The same in hundredths of kudos."""
        return None if self.kudos_trust_threshold is None else int(self.kudos_trust_threshold * 100)


class ServiceAddressSettings(Settings):
    """Which addresses are services that many people stand behind."""

    rate_limit_whitelist: Words = env(
        "HORDE_RATE_LIMIT_WHITELIST",
        "Addresses of trusted services, as a comma or JSON list: higher limits of submits, short timeouts.",
        ("212.227.227.178", "5.189.169.230"),  # upstream's own, base-domain 1.7
    )


class RateLimitSettings(Settings):
    """How often one client may call."""

    rate_limits_enabled: bool = env("HORDE_RATE_LIMITS_ENABLED", "Whether calls are limited at all.", default=True)
    test_ratelimit_disabled: bool = env(
        "HORDE_TEST_RATELIMIT_DISABLED",
        "Turns every limit off, for tests: upstream's name of the switch.",
        default=False,
    )
    chat_request_2sec_limit_per_ip: str = env(
        "HORDE_CHAT_REQUEST_2SEC_LIMIT_PER_IP",
        "The burst limit of chat submits per address, as 2/second.",
        "2/second",
        pattern=FLASK_LIMIT,
    )
    chat_request_90min_limit_per_ip: str = env(
        "HORDE_CHAT_REQUEST_90MIN_LIMIT_PER_IP",
        "The steady limit of chat submits per address, as 90/minute.",
        "90/minute",
        pattern=FLASK_LIMIT,
    )
    proxy_trusted_hops: int = env(
        "HORDE_PROXY_TRUSTED_HOPS", "Proxies of ours in front of the gateway.", 1, ge=0, le=10
    )


class OffloadSettings(Settings):
    """When messages are stored as an object, and for how long links live."""

    chat_messages_offload_enabled: bool = env(
        "HORDE_CHAT_MESSAGES_OFFLOAD_ENABLED",
        "Whether messages over the threshold are stored as an object.",
        default=False,
    )
    chat_messages_offload_bytes: int = env(
        "HORDE_CHAT_MESSAGES_OFFLOAD_BYTES",
        "The largest messages in bytes that stay in the row.",
        262_144,
        ge=0,
    )
    chat_messages_offload_gzip: bool = env(
        "HORDE_CHAT_MESSAGES_OFFLOAD_GZIP",
        "Whether the object is gzipped when that is smaller.",
        default=False,
    )
    chat_messages_url_seconds: int = env(
        "HORDE_CHAT_MESSAGES_URL_SECONDS", "Seconds a link to messages lives.", 120, ge=1, le=604_800
    )
    min_chat_image_url_seconds: int = env(
        "HORDE_MIN_CHAT_IMAGE_URL_SECONDS",
        "Seconds a link to an image lives at least.",
        600,
        ge=1,
        le=604_800,
    )
    image_fetch_allowed_hosts: Words = env(
        "HORDE_IMAGE_FETCH_ALLOWED_HOSTS",
        "host:port pairs that images may be fetched from although private; empty in production.",
        (),
    )


class WorkerSettings(Settings):
    """When a worker counts as online and how fresh what is told of it must be."""

    worker_online_seconds: int = env(
        "HORDE_WORKER_ONLINE_SECONDS", "Seconds since the last check-in that count as online.", 300, ge=1
    )
    worker_check_in_seconds: int = env(
        "HORDE_WORKER_CHECK_IN_SECONDS", "Seconds within which a second check-in writes nothing.", 30, ge=0
    )
    worker_speed_interval_seconds: int = env(
        "HORDE_WORKER_SPEED_INTERVAL_SECONDS", "Seconds between measurements of the fleet's speed.", 30, ge=1
    )
    availability_cache_seconds: float = env(
        "HORDE_AVAILABILITY_CACHE_SECONDS", "Seconds an availability answer is reused.", 60.0, ge=0
    )
    models_cache_seconds: float = env("HORDE_MODELS_CACHE_SECONDS", "Seconds the model list is reused.", 2.0, ge=0)
    worker_details_cache_seconds: float = env(
        "HORDE_WORKER_DETAILS_CACHE_SECONDS", "Seconds worker details are reused.", 30.0, ge=0
    )


class ModelReferenceSettings(Settings):
    """Where the list of known text models is."""

    text_model_reference: str = env(
        "HORDE_TEXT_MODEL_REFERENCE",
        "File or URL of the text model reference: a JSON object of name to {parameters, nsfw?, …}.",
        "https://raw.githubusercontent.com/Haidra-Org/AI-Horde-text-model-reference/main/db.json",
        min_length=1,
    )


class ModerationSettings(Settings):
    """When moderation acts, and whom it tells."""

    moderation_retention_interval_seconds: float = env(
        "HORDE_MODERATION_RETENTION_INTERVAL_SECONDS", "Seconds between retention passes.", 60.0, gt=0
    )
    moderation_upload_interval_seconds: float = env(
        "HORDE_MODERATION_UPLOAD_INTERVAL_SECONDS", "Seconds between passes that upload evidence.", 5.0, gt=0
    )
    moderation_sweep_interval_seconds: float = env(
        "HORDE_MODERATION_SWEEP_INTERVAL_SECONDS",
        "Seconds between looks for evidence objects whose event has no text, and proofs that retention kept its word.",
        86_400.0,
        gt=0,
    )
    model_rejection_timeout_threshold: Whole = env(
        "HORDE_MODEL_REJECTION_TIMEOUT_THRESHOLD",
        "Model rejections of one subject in an hour that are still forgiven.",
        5,
        refuses_empty=True,
    )
    moderation_frontpage_url: str | None = env(
        "HORDE_MODERATION_FRONTPAGE_URL",
        "Where alerts point moderators to, as http(s)://host/path; anything else: alerts have no link.",
        None,
    )
    discord_problem_user_webhook: str | None = env(
        "DISCORD_PROBLEM_USER_WEBHOOK",
        "The Discord webhook that notices for moderators are posted to; unset: they are only logged.",
        None,
        secret=True,
        pattern=r"^https?://[^/]+",
    )
    discord_paused_notice_webhook: str | None = env(
        "DISCORD_PAUSED_NOTICE_WEBHOOK",
        "The Discord webhook that is told of workers that their suspicions paused; unset: that is only logged.",
        None,
        secret=True,
        pattern=r"^https?://[^/]+",
    )
    problem_job_alert_exempt_user_ids: Numbers = env(
        "HORDE_PROBLEM_JOB_ALERT_EXEMPT_USER_IDS",
        "Accounts whose problem jobs, like those of ADMINS, are not counted and raise no alert.",
        (),
    )
