"""Tells whether images and long prompts reach workers, and whether what nobody needs is deleted."""

from tools.observe.boards import shared
from tools.observe.forms import BYTES_PER_SECOND, COUNT, SECONDS, Board, Graph, Line, Row
from tools.observe.promql import now, per_second, quantile, quantiles

_FLOW = Row(
    "In and out",
    (
        Graph(
            title="Images",
            lines=[Line(per_second("horde_media_images_total", "stage"), "{{stage}}")],
            told="Received and stored go together; signed and inlined follow when workers take the jobs.",
        ),
        Graph(
            title="Bytes",
            lines=[Line(per_second("horde_media_bytes_total", "stage"), "{{stage}}")],
            told="Inlined images go through this process; signed ones go from the store to the worker.",
            unit=BYTES_PER_SECOND,
        ),
        Graph(
            title="Refused",
            lines=[Line(per_second("horde_media_refusals_total", "reason"), "{{reason}}")],
            told="Images that are none, too large, or at addresses that are not fetched.",
        ),
        Graph(
            title="Offloaded messages",
            lines=[Line(per_second("horde_media_messages_total", "stage"), "{{stage}}")],
            told="Long prompts that workers fetch by a link.",
        ),
    ),
)

_TIME = Row(
    "Where the time goes",
    (
        Graph(
            title="Stages, p95",
            lines=[Line(quantile(0.95, "horde_media_stage_seconds", "stage"), "{{stage}}")],
            told="For all images of a call. Fetching depends on strangers; decoding on our cores; storing on S3.",
            unit=SECONDS,
        ),
        Graph(
            title="Waiting for a decoder",
            lines=quantiles("horde_media_decode_queue_seconds"),
            told="More than a second: more decoders or another replica.",
            unit=SECONDS,
        ),
        Graph(
            title="Images that wait for a decoder",
            lines=[Line(now("horde_media_decode_queue_images"), "images")],
            told="Over the limit of time in the queue, calls answer 503.",
            unit=COUNT,
        ),
    ),
)

_DELETES = Row(
    "What nobody needs",
    (
        Graph(
            title="Deletes",
            lines=[
                Line(per_second("horde_media_deletes_total", "outcome"), "media: {{outcome}}"),
                Line(per_second("horde_dispatch_object_deletes_total", "outcome"), "dispatch: {{outcome}}"),
            ],
            told="`queued` and `kept` are tried again; `lost` stays in dispatch's rows until it is deleted.",
        ),
        Graph(
            title="Deletes owed",
            lines=[Line(now("horde_media_delete_retry_keys", how="max"), "objects")],
            told="Objects whose request is gone and that the store has not deleted yet.",
            unit=COUNT,
            runbook="DeletesOwed",
        ),
        shared.loops("media"),
    ),
)

BOARD = Board(
    name="media",
    title="Horde: media",
    question="Do images and long prompts reach workers, and is what nobody needs deleted?",
    rows=(_FLOW, shared.rpcs("media"), _TIME, _DELETES),
)
