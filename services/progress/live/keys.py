"""The keys of progress, and the logical database they stand in."""

from datetime import timedelta

from horde.live import Key
from horde.live.addresses import with_database
from horde.settings import RedisSettings

CHAT_SIGNAL_DATABASE = 7
"""The logical database of leases and streams, `chat_signal_db` of the chat reference. Channels know no databases."""

LEASE = Key(
    "horde:chat:lease:{generation}",
    kind="hash",
    ttl=timedelta(seconds=150 + 90),
    owner="progress",
    if_lost="the generation is not streamed any more; its worker is told to stop posting and submits as ever",
)
STREAM = Key(
    "horde:chat:stream:{request}",
    kind="stream",
    ttl=timedelta(seconds=900),
    owner="progress",
    if_lost="watchers see what comes after; a cancel is settled on the bytes the lease accepted",
)
SIGNALS = Key(
    "horde:chat:{request}",
    kind="channel",
    ttl=None,
    owner="progress",
    if_lost="a message reaches only who listens now; whoever misses one reads the request's status",
)
WAKE = Key(
    "horde:progress:wake:{request}",
    kind="channel",
    ttl=None,
    owner="progress",
    if_lost="a watcher reads the entry with the next wake, or after a reconnect",
)


def on_signal_database(settings: RedisSettings) -> RedisSettings:
    """The same Redis, the database of leases and streams."""
    return settings.model_copy(update={"redis_url": with_database(settings.redis_url, CHAT_SIGNAL_DATABASE)})
