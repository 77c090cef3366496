"""How long submissions take, and their steps: base-domain 12's histograms, bound to what is text or chat.

`horde.generate.duration` is `horde_generate_duration_seconds` here, and so on. Each name below decorates the one
function that is that step.
"""

from horde.telemetry.metrics import LONG_SECONDS, SECONDS, Histogram, timed

_GENTYPE = "text"
"""What chat and text jobs alike are called beside image jobs of other hordes. base-domain 12."""

_GENERATE = Histogram(
    "horde_generate_duration_seconds", "One submission, quotes and refusals included.", ("gentype",), buckets=SECONDS
)
_VALIDATE = Histogram(
    "horde_generate_validate_duration_seconds",
    "Every check of a submission, up to what it costs.",
    ("gentype",),
    buckets=SECONDS,
)
_FIND_USER = Histogram(
    "horde_generate_validate_find_user_duration_seconds",
    "Reading who submits, what of theirs waits and what workers offer.",
    ("gentype",),
    buckets=SECONDS,
)
_PROMPT_FILTER = Histogram(
    "horde_generate_validate_prompt_filter_duration_seconds",
    "Judging the prompt; moderation is asked only about what the snapshot cannot clear.",
    ("gentype",),
    buckets=SECONDS,
)
_ACTIVATE_WP = Histogram(
    "horde_generate_activate_wp_duration_seconds",
    "From the last check to the queue, storing images and messages included.",
    ("gentype",),
    buckets=SECONDS,
)
_WP_ACTIVATE = Histogram(
    "horde_wp_activate_duration_seconds",
    "The statement that claims, holds, taxes and queues a request.",
    ("wp_type",),
    buckets=SECONDS,
)
_ACTIVATION_AGE = Histogram(
    "horde_wp_activation_age_seconds",
    "From a request's creation to the moment it is queued.",
    ("wp_type",),
    buckets=(*SECONDS, *(bound for bound in LONG_SECONDS if bound > SECONDS[-1])),
)

generate = timed(_GENERATE.labels(_GENTYPE))
validate = timed(_VALIDATE.labels(_GENTYPE))
find_user = timed(_FIND_USER.labels(_GENTYPE))
prompt_filter = timed(_PROMPT_FILTER.labels(_GENTYPE))
activate_wp = timed(_ACTIVATE_WP.labels(_GENTYPE))
wp_activate = timed(_WP_ACTIVATE.labels(_GENTYPE))
activation_age = _ACTIVATION_AGE.labels(_GENTYPE)
