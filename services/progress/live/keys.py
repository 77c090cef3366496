"""The keys of progress, and the logical database they stand in."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from horde.live import Key
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
    parts = urlsplit(settings.redis_url)
    # redis-py takes the number from the path, and from `db` in the query first; a unix socket has only the query.
    query = dict(parse_qsl(parts.query))
    query["db"] = str(CHAT_SIGNAL_DATABASE)
    if parts.scheme == "unix":
        # Not by urlunsplit: it leaves out the two slashes of an empty host, and redis-py insists on them.
        url = f"unix://{parts.netloc}{parts.path}?{urlencode(query)}"
    else:
        url = urlunsplit(parts._replace(path=f"/{CHAT_SIGNAL_DATABASE}", query=urlencode(query)))
    return settings.model_copy(update={"redis_url": url})
