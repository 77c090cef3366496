"""The shapes of what moderators review, as JSON Schema."""

from collections.abc import Mapping

from services.gateway.documents.shapes import (
    FLAG,
    NUMBER,
    TEXT,
    TEXTS,
    UUID,
    WHOLE,
    Schema,
    array,
    choice,
    maybe,
    ref,
    shape,
    whole,
)

_TIME: Schema = {"type": "string", "format": "date-time"}
_REASON = choice("filter_rejection", "model_rejection", "worker_csam")
_MOST_ID = 2**63 - 1
_CURSOR = whole(1, _MOST_ID)
_WHO = shape(("id",), id=WHOLE, username=maybe(TEXT))
_WORKER_TYPE = choice("image", "text", "interrogation")
_SUSPICIONS = array(shape(("id", "name", "count"), id=WHOLE, name=TEXT, description=TEXT, count=WHOLE))

EVENTS_QUERY: dict[str, Schema] = {
    "limit": whole(1, 100, 50),
    "before_id": _CURSOR,
    "event_id": _CURSOR,
    "since": _TIME,
    "until": _TIME,
    "reason": array(_REASON),
    "ipaddr": {"type": "string", "description": "An address, or an IPv6 network of /64 or narrower."},
    "ip_subject_key": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "user_id": whole(0, 2**31 - 1),
    "worker_id": UUID,
    "proxied_account": {"type": "string", "maxLength": 255},
    "unmarked": FLAG,
}
HISTORY_QUERY: dict[str, Schema] = {
    "limit": whole(1, 500, 100),
    "before_id": _CURSOR,
    "worker_id": UUID,
    "user_id": whole(0, 2**31 - 1),
}
ACCESS_QUERY: dict[str, Schema] = {
    "limit": whole(1, 500, 100),
    "before_id": _CURSOR,
    "event_id": _CURSOR,
    "moderator_id": whole(0, 2**31 - 1),
}
PREVIEW_QUERY: dict[str, Schema] = {
    "text_days": {"type": "string", "description": "Days, or none."},
    "ipaddr_days": {"type": "string", "description": "Days, or none."},
    "ceiling_days": {"type": "string", "description": "Days, at most 365."},
}
QUEUES_QUERY: dict[str, Schema] = {
    "limit": whole(1, 500, 100),
    "worker_type": array(_WORKER_TYPE),
    "suspicion_id": array(whole(0, 9)),
    "online": FLAG,
    "sort": choice("last_check_in", "suspicion", "name", "owner"),
}

_WINDOWS = shape(text_days=maybe(WHOLE), ipaddr_days=maybe(WHOLE), ceiling_days=WHOLE)
_PROMOTION = shape(
    ("user_id", "username", "evaluating_kudos", "suspicions"),
    user_id=WHOLE,
    id=WHOLE,
    username=TEXT,
    created=_TIME,
    last_active=_TIME,
    account_age={"type": "integer", "description": "Seconds."},
    kudos=NUMBER,
    evaluating_kudos=NUMBER,
    worker_count=WHOLE,
    workers_online=WHOLE,
    workers_paused=WHOLE,
    paused_worker_count=WHOLE,
    worker_kudos=NUMBER,
    contributions=WHOLE,
    fulfilments=WHOLE,
    worker_fulfilments=WHOLE,
    flagged=FLAG,
    deleted=FLAG,
    vpn=FLAG,
    suspicions=_SUSPICIONS,
    suspicion_reasons=_SUSPICIONS,
    suspicion_total=WHOLE,
    suspicious=WHOLE,
    contact=maybe(TEXT),
    admin_comment=maybe(TEXT),
)
_PAUSED = shape(
    ("id", "name", "worker_type", "owner", "suspicions"),
    id=UUID,
    name=TEXT,
    worker_type=_WORKER_TYPE,
    type=_WORKER_TYPE,
    owner=TEXT,
    owner_id=WHOLE,
    owner_details=shape(user_id=WHOLE, username=TEXT, trusted=FLAG, flagged=FLAG, suspicion_total=WHOLE),
    owner_trusted=FLAG,
    owner_flagged=FLAG,
    owner_suspicion=WHOLE,
    contact=maybe(TEXT),
    online=FLAG,
    last_check_in=_TIME,
    created=_TIME,
    info=maybe(TEXT),
    bridge_agent=TEXT,
    models=TEXTS,
    maintenance=FLAG,
    maintenance_mode=FLAG,
    maintenance_msg=maybe(TEXT),
    uptime={"type": "integer", "description": "Seconds."},
    uncompleted_jobs=WHOLE,
    aborted_jobs=WHOLE,
    nonconformant_replies=WHOLE,
    requests_fulfilled=WHOLE,
    suspicions=_SUSPICIONS,
    suspicion_reasons=_SUSPICIONS,
    suspicion_total=WHOLE,
    suspicious=WHOLE,
)
_EVENT = shape(
    ("id", "created", "reason", "outcome", "models", "text_state", "notes"),
    id=WHOLE,
    created=_TIME,
    reason=_REASON,
    outcome=choice("rejected", "censored"),
    user_id=maybe(WHOLE),
    username=maybe(TEXT),
    proxied_account=maybe(TEXT),
    request_id=maybe(UUID),
    worker_id=maybe(UUID),
    ipaddr=maybe(TEXT),
    origin_text=maybe(TEXT),
    ip_subject_key=maybe(TEXT),
    models=TEXTS,
    text_state=choice("pending", "stored", "none"),
    submitted_prompt=maybe(TEXT),
    moderation_prompt=maybe(TEXT),
    effective_prompt=maybe(TEXT),
    text_url=maybe(TEXT),
    text_sha256=maybe(TEXT),
    text_chars=maybe(WHOLE),
    text_truncated=FLAG,
    text_redacted=FLAG,
    ipaddr_redacted=FLAG,
    anonymized=FLAG,
    hold_source=maybe(choice("note", "account_status")),
    notes=array(ref("ModerationNote")),
    marks=array(ref("ModerationMark")),
)

REVIEW: Mapping[str, Schema] = {
    "ReviewQueues": shape(
        promotion_threshold=maybe(NUMBER),
        suspicion_threshold=WHOLE,
        worker_suspicion_threshold=WHOLE,
        promotion_blocked_users=array(_PROMOTION),
        promotion_eligible_users=array(_PROMOTION),
        paused_workers=array(_PAUSED),
        paused_workers_total=WHOLE,
    ),
    "ModerationEvents": shape(
        ("events", "next_cursor", "retention"),
        events=array(_EVENT),
        next_cursor=maybe(WHOLE),
        retention=_WINDOWS,
    ),
    "RetentionPreview": shape(
        ("steps", "retention"),
        steps=array(
            shape(
                step=TEXT,
                due_now=WHOLE,
                due_in_7_days=WHOLE,
                due_in_30_days=WHOLE,
                held=shape(note=WHOLE, account_status=WHOLE),
                waiting_on_store=WHOLE,
            )
        ),
        retention=_WINDOWS,
    ),
    "ModerationNote": shape(
        ("id", "note", "created", "reviewer"),
        id=WHOLE,
        event_id=WHOLE,
        note=TEXT,
        created=_TIME,
        author_id=WHOLE,
        reviewer=_WHO,
    ),
    "NewModerationNote": shape(("note",), note={"type": "string", "minLength": 1, "maxLength": 2000}),
    "ModerationMark": shape(
        ("mark", "created", "reviewer"), mark=choice("seen", "dismissed"), created=_TIME, reviewer=_WHO
    ),
    "ModerationMarks": shape(("event_id", "marks"), event_id=WHOLE, marks=array(ref("ModerationMark"))),
    "NewModerationMark": shape(("mark",), mark=choice("seen", "dismissed", "none")),
    "SuspicionHistory": shape(
        ("events", "next_cursor"),
        events=array(
            shape(
                id=WHOLE,
                created=_TIME,
                worker_id=UUID,
                worker_name=TEXT,
                user_id=WHOLE,
                suspicion_id=WHOLE,
                reason=maybe(TEXT),
                detail=TEXT,
            )
        ),
        next_cursor=maybe(WHOLE),
    ),
    "AccessLog": shape(
        ("accesses", "next_cursor"),
        accesses=array(
            shape(
                id=WHOLE,
                created=_TIME,
                moderator_id=WHOLE,
                action=TEXT,
                endpoint=TEXT,
                event_ids=array(WHOLE),
                filter_names=TEXTS,
                subject_key=maybe(TEXT),
            )
        ),
        next_cursor=maybe(WHOLE),
    ),
}
