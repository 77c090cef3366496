"""The shapes of bodies and answers, as JSON Schema."""

from collections.abc import Mapping

from horde.contract import limits
from horde.contract.vocabulary import chat_declaration

type Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TEXTS: Schema = {"type": "array", "items": TEXT}
ANY_OBJECT: Schema = {"type": "object"}
UUID: Schema = {"type": "string", "format": "uuid"}


def whole(least: int, most: int, default: int | None = None) -> Schema:
    """An integer between two bounds."""
    made: dict[str, object] = {"type": "integer", "minimum": least, "maximum": most}
    return made if default is None else {**made, "default": default}


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

SCHEMAS: Mapping[str, Schema] = {
    "Error": shape(
        ("message",),
        message={"type": "string", "description": "What was wrong, for people."},
        rc={"type": "string", "description": "The return code, for programs."},
        errors={"type": "object", "additionalProperties": TEXT, "description": "A text for each path that is wrong."},
    ),
    "ChatRequest": shape(
        ("messages",),
        model=TEXT,
        models={**array(TEXT), "maxItems": limits.MAX_CHAT_MODEL_COUNT},
        messages={**array(ANY_OBJECT), "minItems": 1, "maxItems": limits.MAX_CHAT_MESSAGE_COUNT},
        max_tokens=whole(limits.MIN_CHAT_MAX_LENGTH, limits.MAX_CHAT_MAX_LENGTH, limits.DEFAULT_CHAT_MAX_LENGTH),
        max_completion_tokens=whole(limits.MIN_CHAT_MAX_LENGTH, limits.MAX_CHAT_MAX_LENGTH),
        temperature={"type": "number", "minimum": 0, "maximum": 5},
        top_p={"type": "number", "minimum": 0.001, "maximum": 1},
        frequency_penalty={"type": "number", "minimum": -2, "maximum": 2},
        presence_penalty={"type": "number", "minimum": -2, "maximum": 2},
        seed=WHOLE,
        reasoning_effort=choice("none", "minimal", "low", "medium", "high", "xhigh"),
        stop={"anyOf": [TEXT, TEXTS]},
        n=whole(1, 1, 1),
        stream=FLAG,
        tools=array(ANY_OBJECT),
        tool_choice={"anyOf": [choice("none", "auto", "required"), ANY_OBJECT]},
        parallel_tool_calls=FLAG,
        response_format=ANY_OBJECT,
        horde=ANY_OBJECT,
    ),
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
        ("finished", "processing", "restarted", "waiting", "done", "faulted", "wait_time", "queue_position"),
        finished=WHOLE,
        processing=WHOLE,
        restarted=WHOLE,
        waiting=WHOLE,
        done=FLAG,
        faulted=FLAG,
        wait_time={"type": "integer", "description": "Seconds."},
        queue_position=WHOLE,
        kudos=WHOLE,
        is_possible=FLAG,
        eligible_workers=WHOLE,
        eligible_worker_threads=WHOLE,
        might_stall=FLAG,
        generations=array(ref("Generation")),
        impossible_reason=maybe(ANY_OBJECT),
        context_adjustments=maybe(array(ANY_OBJECT)),
        fault_reason=maybe(TEXT),
        fault_rc=maybe(TEXT),
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
