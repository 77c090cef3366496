"""What both ends of a channel must agree on."""

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""A request with the most images, encoded, is below this."""

MAX_METADATA_BYTES = 64 * 1024
"""A refusal with all its facts is below this; see refusals.py. gRPC's default of 8 KiB would turn it into a fault."""

LONGEST_RECONNECT_PAUSE_MS = 400
"""A neighbour that is back is found within this, give or take gRPC's jitter of a fifth."""

LONGEST_LOOKUP_PAUSE_MS = 300
"""A name is looked up again at most this often: well within the second that a call waits for a connection (client.py),
also when the only replica is replaced twice in a row."""

LEAVING_SECONDS = 0.25
"""How long a server that leaves says so before it takes no more calls: a call that crosses with the end of its server
is cancelled, and its caller cannot know whether anything was done. The news takes milliseconds."""

_CONNECTION_AGE_MS = 300_000
"""How long a connection lives before its caller is asked, in good order, to look where the service is now: by itself it
would never find the replicas that came later. Streams on it go on."""

_BALANCING = """{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}"""
"""Every replica in turn, but those that say they are leaving."""

_SHARED: tuple[tuple[str, int], ...] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    ("grpc.absolute_max_metadata_size", 2 * MAX_METADATA_BYTES),
)

SERVER: tuple[tuple[str, int], ...] = (
    *_SHARED,
    # Two servers on one port would each get half of the calls; the second must fail instead.
    ("grpc.so_reuseport", 0),
    # Clients ping every 20 s also while they have nothing to say; without this a server hangs up on them for it.
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.max_connection_age_ms", _CONNECTION_AGE_MS),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 10_000),
)

CLIENT: tuple[tuple[str, int | str], ...] = (
    *_SHARED,
    ("grpc.service_config", _BALANCING),
    # Retries are ours: only we know which calls may be repeated.
    ("grpc.enable_retries", 0),
    # A firewall or a dead node is noticed within half a minute, and before the first call that needs the channel.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # A neighbour that restarts is back within a second or two; gRPC's own pause grows to two minutes. What is tried
    # this often is one connection to a machine that refuses it: microseconds.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", LONGEST_RECONNECT_PAUSE_MS),
    ("grpc.dns_min_time_between_resolutions_ms", LONGEST_LOOKUP_PAUSE_MS),
    # Two clients of one process to one target keep to themselves, so closing one does not surprise the other.
    ("grpc.use_local_subchannel_pool", 1),
)
