"""The shapes of bodies and answers, as JSON Schema."""

from collections.abc import Mapping

from horde.contract import limits
from horde.contract.vocabulary import chat_declaration
from services.gateway.documents.chat_request import CHAT_REQUEST

type Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TEXTS: Schema = {"type": "array", "items": TEXT}
ANY_OBJECT: Schema = {"type": "object"}
UUID: Schema = {"type": "string", "format": "uuid"}


SECONDS_TO_WAIT: Schema = {"type": "number", "minimum": 0, "maximum": limits.MAX_WAIT_SECONDS, "default": 0}


def whole(least: int, most: int, default: int | None = None) -> Schema:
    """An integer between two bounds."""
    made: dict[str, object] = {"type": "integer", "minimum": least, "maximum": most}
    return made if default is None else {**made, "default": default}


def between(least: float, most: float) -> Schema:
    """A number between two bounds."""
    return {"type": "number", "minimum": least, "maximum": most}


def choice(*values: str) -> Schema:
    """One of a few words."""
    return {"type": "string", "enum": list(values)}


def array(items: Schema) -> Schema:
    """A list of one shape."""
    return {"type": "array", "items": items}


def maybe(schema: Schema) -> Schema:
    """A shape or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def shape(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """An object; keys that are not named are ignored."""
    made: dict[str, object] = {"type": "object", "properties": properties}
    return {**made, "required": list(required)} if required else made


def ref(name: str) -> Schema:
    """One of the shapes below, by name."""
    return {"$ref": f"#/components/schemas/{name}"}


_STATE = choice("ok", "censored", "csam")
_TEXT_COUNT = whole(0, limits.MAX_REPORTED_TOKENS)
_CHAT_LIMITS = shape(
    ("max_context_length", "max_length"), max_context_length=WHOLE, max_length=WHOLE, tools_max_temperature=NUMBER
)
_FAULT_REASONS = choice(*sorted(reason.value for reason in chat_declaration.ChatFaultReason))
_TRANSPORTS = array(choice(*sorted(transport.value for transport in chat_declaration.ChatImageTransport)))
_FINISH = choice(*sorted(reason.value for reason in chat_declaration.ChatFinishReason))
_STATUS = ("finished", "processing", "restarted", "waiting", "done", "faulted", "wait_time", "queue_position")
_STATUS_FIELDS: Mapping[str, Schema] = {
    "finished": WHOLE,
    "processing": WHOLE,
    "restarted": WHOLE,
    "waiting": WHOLE,
    "done": FLAG,
    "faulted": FLAG,
    "wait_time": {"type": "integer", "description": "Seconds."},
    "queue_position": WHOLE,
    "kudos": WHOLE,
    "is_possible": FLAG,
    "eligible_workers": WHOLE,
    "eligible_worker_threads": WHOLE,
    "might_stall": FLAG,
}

SCHEMAS: Mapping[str, Schema] = {
    "Error": shape(
        ("message",),
        message={"type": "string", "description": "What was wrong, for people."},
        rc={"type": "string", "description": "The return code, for programs."},
        errors={"type": "object", "additionalProperties": TEXT, "description": "A text for each path that is wrong."},
    ),
    **CHAT_REQUEST,
    "Queued": shape(
        ("id", "kudos"),
        id=UUID,
        kudos=WHOLE,
        message=TEXT,
        warnings=array(shape(("code", "message"), code=TEXT, message=TEXT)),
    ),
    "QuotedOrRepeated": shape(("kudos",), id=UUID, kudos=WHOLE, resolved=ANY_OBJECT),
    "Generation": shape(
        ("model", "state", "worker_id", "worker_name"),
        worker_id=TEXT,
        worker_name=TEXT,
        model=TEXT,
        state=_STATE,
        text=TEXT,
        seed=WHOLE,
        gen_metadata=array(ANY_OBJECT),
        message=maybe(ANY_OBJECT),
        finish_reason=maybe(_FINISH),
        native_finish_reason=maybe(TEXT),
        prompt_tokens=maybe(WHOLE),
        completion_tokens=maybe(WHOLE),
        reasoning_tokens=maybe(WHOLE),
        charge_basis=maybe(TEXT),
        queue_wait_seconds=NUMBER,
    ),
    "ChatStatus": shape(
        _STATUS,
        **_STATUS_FIELDS,
        generations=array(ref("Generation")),
        impossible_reason=maybe(ANY_OBJECT),
        context_adjustments=maybe(array(ANY_OBJECT)),
        fault_reason=maybe(TEXT),
        fault_rc=maybe(TEXT),
    ),
    "TextRequest": shape(
        ("prompt",),
        prompt=TEXT,
        params=ref("TextParams"),
        softprompt={"type": "string", "minLength": 1, "maxLength": 255},
        models={**TEXTS, "maxItems": limits.MAX_TEXT_LIST, "description": "None: any model."},
        workers={**TEXTS, "maxItems": limits.MAX_TEXT_LIST, "description": "The first five count."},
        worker_blacklist=FLAG,
        trusted_workers=FLAG,
        validated_backends=FLAG,
        slow_workers=FLAG,
        dry_run=FLAG,
        proxied_account={"type": "string", "maxLength": 255},
        disable_batching=FLAG,
        allow_downgrade=FLAG,
        webhook={"type": "string", "maxLength": 1024, "description": "Begins with https://."},
        context_fit=choice("ignore", "reject", "grow"),
    ),
    "TextParams": shape(
        n=whole(1, limits.MAX_TEXT_JOBS, 1),
        max_length=whole(limits.MIN_CHAT_MAX_LENGTH, limits.MAX_CHAT_MAX_LENGTH, limits.DEFAULT_TEXT_MAX_LENGTH),
        max_context_length=whole(limits.MIN_CONTEXT_LENGTH, limits.MAX_CONTEXT_LENGTH, limits.DEFAULT_CONTEXT_LENGTH),
        temperature=between(0, 5),
        top_p=between(0.001, 1),
        top_k=whole(0, 200),
        top_a=between(0, 1),
        typical=between(0, 1),
        tfs=between(0, 1),
        min_p=between(0, 1),
        rep_pen=between(1, 3),
        rep_pen_range=whole(0, 4096),
        rep_pen_slope=between(0, 10),
        smoothing_factor=between(0, 10),
        dynatemp_range=between(0, 5),
        dynatemp_exponent=between(0, 5),
        sampler_order={**array(WHOLE), "maxItems": limits.MAX_TEXT_LIST},
        stop_sequence=TEXTS,
        singleline=FLAG,
        frmtadsnsp=FLAG,
        frmtrmblln=FLAG,
        frmtrmspch=FLAG,
        frmttriminc=FLAG,
        use_default_badwordsids=FLAG,
    ),
    "TextQuote": shape(("kudos", "resolved"), kudos=WHOLE, resolved=ANY_OBJECT),
    "TextGeneration": shape(
        ("model", "state", "worker_id", "worker_name"),
        worker_id=TEXT,
        worker_name=TEXT,
        model=TEXT,
        state=_STATE,
        text=TEXT,
        seed=WHOLE,
        gen_metadata=array(ANY_OBJECT),
    ),
    "TextStatus": shape(_STATUS, **_STATUS_FIELDS, generations=array(ref("TextGeneration"))),
    "TextSubmission": shape(
        prompt=TEXT,
        params=ref("TextParams"),
        models=TEXTS,
        workers=TEXTS,
        worker_blacklist=FLAG,
        trusted_workers=FLAG,
        validated_backends=FLAG,
        slow_workers=FLAG,
        softprompt=TEXT,
        proxied_account=TEXT,
        webhook=TEXT,
    ),
    "Pop": shape(
        ("name",),
        name=TEXT,
        models=TEXTS,
        bridge_agent={"type": "string", "maxLength": limits.MAX_BRIDGE_AGENT_LENGTH},
        threads=whole(1, limits.MAX_WORKER_THREADS, 1),
        amount=whole(1, limits.MAX_JOBS_PER_POP, 1),
        max_length=WHOLE,
        max_context_length=WHOLE,
        nsfw=FLAG,
        softprompts=TEXTS,
        priority_usernames=TEXTS,
        chat_jobs=FLAG,
        prompt_jobs=FLAG,
        chat_features=TEXTS,
        chat_limits=_CHAT_LIMITS,
        model_id=TEXT,
        image_transports=_TRANSPORTS,
        wait_seconds=SECONDS_TO_WAIT,
    ),
    "Job": shape(
        ("payload", "id", "ids", "skipped"),
        payload=ANY_OBJECT,
        id=maybe(TEXT),
        ids=TEXTS,
        messages=array(ANY_OBJECT),
        ttl=maybe({"type": "integer", "description": "Seconds until the reply is due."}),
        extra_source_images={"type": "null"},
        skipped={"type": "object", "additionalProperties": WHOLE},
        softprompt={"type": "null"},
        model=maybe(TEXT),
        chat=FLAG,
    ),
    "Reply": shape(
        ("id",),
        id=TEXT,
        generation=TEXT,
        state=choice("ok", "censored", "csam", "faulted"),
        seed=WHOLE,
        gen_metadata={**array(ANY_OBJECT), "maxItems": limits.MAX_GEN_METADATA},
        message=ANY_OBJECT,
        finish_reason=_FINISH,
        native_finish_reason={"type": "string", "maxLength": limits.MAX_NATIVE_FINISH_REASON_LENGTH},
        prompt_tokens=_TEXT_COUNT,
        completion_tokens=_TEXT_COUNT,
        reasoning_tokens=_TEXT_COUNT,
        model_id=TEXT,
        fault_reason=_FAULT_REASONS,
    ),
    "Reward": shape(("reward",), reward=NUMBER),
    "Progress": shape(
        ("id", "seq", "delta"),
        id=TEXT,
        seq={"type": "integer", "minimum": 1},
        delta=shape(content=TEXT, reasoning_content=TEXT),
    ),
    "Accepted": shape(("accepted_seq", "cancelled"), accepted_seq=WHOLE, cancelled=FLAG),
    "Model": shape(
        ("name", "type"),
        name=TEXT,
        count={"type": "integer", "description": "Threads that serve it."},
        type=choice("text"),
        performance={"type": "number", "description": "Tokens per second."},
        queued=NUMBER,
        jobs=NUMBER,
        eta={"type": "integer", "description": "Seconds."},
        chat=shape(workers=WHOLE, max_context_length=WHOLE, max_length=WHOLE, features=TEXTS, created=maybe(WHOLE)),
    ),
    "Heartbeat": shape(
        ("message", "version"),
        message=choice("OK", "DOWN", "OVERLOADED"),
        version=TEXT,
        queue=WHOLE,
        threads=WHOLE,
        active_count=WHOLE,
        db_connection=FLAG,
    ),
    "Modes": shape(maintenance_mode=FLAG, invite_only_mode=FLAG, raid_mode=FLAG),
    "Performance": {"type": "object", "additionalProperties": NUMBER},
    "Worker": shape(
        ("type", "name", "id", "maintenance_mode", "bridge_agent"),
        name=TEXT,
        id=UUID,
        type=choice("text"),
        online=FLAG,
        requests_fulfilled=WHOLE,
        kudos_rewards=NUMBER,
        kudos_details=shape(generated=NUMBER, uptime=NUMBER),
        performance={"type": "string", "description": "Tokens per second, in words."},
        threads=WHOLE,
        uptime={"type": "integer", "description": "Seconds."},
        maintenance_mode=FLAG,
        info=TEXT,
        nsfw=FLAG,
        trusted=FLAG,
        flagged=FLAG,
        uncompleted_jobs=WHOLE,
        nonconformant_replies=WHOLE,
        models=TEXTS,
        bridge_agent=TEXT,
        max_length=WHOLE,
        max_context_length=WHOLE,
        accepts_chat_jobs=FLAG,
        accepts_prompt_jobs=FLAG,
        chat=shape(model_id=TEXT, features=TEXTS, limits=_CHAT_LIMITS, image_transports=_TRANSPORTS),
        owner=TEXT,
        paused=FLAG,
        suspicious=WHOLE,
        ipaddr=TEXT,
        contact=TEXT,
    ),
    "WorkerChange": shape(
        maintenance=FLAG,
        maintenance_msg={"type": "string", "maxLength": limits.MAX_MAINTENANCE_MESSAGE_LENGTH},
        paused=FLAG,
        info={"type": "string", "maxLength": limits.MAX_WORKER_INFO_LENGTH},
        name={
            "type": "string",
            "minLength": limits.MIN_CHOSEN_WORKER_NAME_LENGTH,
            "maxLength": limits.MAX_WORKER_NAME_LENGTH,
        },
    ),
    "WorkerChanged": shape(maintenance=FLAG, paused=FLAG, info=TEXT, name=TEXT),
    "WorkerDeleted": shape(deleted_id=UUID, deleted_name=TEXT),
    "Account": shape(
        ("username", "id", "kudos"),
        username=TEXT,
        id=WHOLE,
        kudos=NUMBER,
        concurrency=WHOLE,
        moderator=FLAG,
        trusted=FLAG,
        flagged=FLAG,
    ),
}
