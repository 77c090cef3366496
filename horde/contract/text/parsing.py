"""One text body, checked against base-domain 3.1 and 3.2."""

from collections.abc import Mapping

from horde.contract import limits, reasons, strict_json
from horde.contract.nul import NUL, refuse_nul
from horde.contract.refusal import Refusal
from horde.contract.text import shape
from horde.contract.text.request import TextRequest
from horde.contract.text.shape import Check

_NAME = 255
_ADDRESS = 1024
"""Characters of a name, and of a webhook or a style: the width of what stores them; base-domain 3.1."""

_PARAMS: Mapping[str, Check] = {
    "n": shape.whole(1, limits.MAX_TEXT_JOBS),
    "max_length": shape.whole(limits.MIN_CHAT_MAX_LENGTH, limits.MAX_CHAT_MAX_LENGTH),
    "max_context_length": shape.whole(limits.MIN_CONTEXT_LENGTH, limits.MAX_CONTEXT_LENGTH),
    "temperature": shape.number(0, 5),
    "top_p": shape.number(0.001, 1),
    "top_k": shape.whole(0, 200),
    "top_a": shape.number(0, 1),
    "typical": shape.number(0, 1),
    "tfs": shape.number(0, 1),
    "min_p": shape.number(0, 1),
    "rep_pen": shape.number(1, 3),
    "rep_pen_range": shape.whole(0, 4096),
    "rep_pen_slope": shape.number(0, 10),
    "smoothing_factor": shape.number(0, 10),
    "dynatemp_range": shape.number(0, 5),
    "dynatemp_exponent": shape.number(0, 5),
    "sampler_order": shape.array(shape.anything_whole, limits.MAX_TEXT_LIST),
    "stop_sequence": shape.array(shape.text(), 10 * limits.MAX_STOP_SEQUENCES),
    **dict.fromkeys(
        ("singleline", "frmtadsnsp", "frmtrmblln", "frmtrmspch", "frmttriminc", "use_default_badwordsids"), shape.flag
    ),
}
"""base-domain 3.2; `max_length` and `max_context_length` as on chat."""

_BODY: Mapping[str, Check] = {
    "prompt": shape.text(),
    "params": shape.mapping,
    "softprompt": shape.text(1, _NAME),
    "models": shape.array(shape.text(1, _NAME), limits.MAX_TEXT_LIST),
    "workers": shape.array(shape.text(), limits.MAX_TEXT_LIST),
    "extra_source_images": shape.array(shape.mapping, limits.MAX_TEXT_LIST),
    "proxied_account": shape.text(0, _NAME),
    "webhook": shape.text(0, _ADDRESS),
    "style": shape.text(3, _ADDRESS),
    "template_fields": shape.texts_by_name,
    "context_fit": shape.choice("ignore", "reject", "grow"),
    **dict.fromkeys(
        (
            "worker_blacklist",
            "trusted_workers",
            "validated_backends",
            "slow_workers",
            # accepted, and of no meaning for text
            "extra_slow_workers",
            "nsfw",
            "dry_run",
            "disable_batching",
            "allow_downgrade",
        ),
        shape.flag,
    ),
}
"""base-domain 3.1. Keys that are not named are ignored."""

_KEPT_AS_SENT = (
    "worker_blacklist",
    "trusted_workers",
    "validated_backends",
    "slow_workers",
    "dry_run",
    "disable_batching",
    "allow_downgrade",
    "softprompt",
    "webhook",
    "proxied_account",
    "style",
    "context_fit",
)
_NOT_SAMPLING = frozenset({"n", "max_length", "max_context_length"})


def parse_text_request(body: bytes) -> TextRequest:
    """The request of a JSON body. Raises Refusal: BadRequest, ValidationFailed, NulByteInPayload."""
    sent = strict_json.loads_object(body, limits.MAX_TEXT_JSON_VALUES)
    errors: dict[str, str] = {}
    right = shape.read(sent, _BODY, "", errors)
    params = shape.read(right.get("params", {}), _PARAMS, "params.", errors)
    if sent.get("prompt") is None:
        errors["prompt"] = "The prompt to generate from. Missing required parameter in the JSON body"
    named = right.get("workers", ())
    workers = tuple(dict.fromkeys(named))
    if right.get("worker_blacklist") and len(named) > limits.MAX_WORKER_LIST:
        # as a list of the only workers the first few are a promise kept; as one to avoid, a promise broken
        errors["workers"] = f"{len(named)} workers are too many to avoid: at most {limits.MAX_WORKER_LIST} are taken"
    if errors:
        raise Refusal(reasons.VALIDATION_FAILED, "Input payload validation failed", {"errors": errors})
    if NUL in body:
        refuse_nul({**right, "params": params}, "")
    return TextRequest(
        prompt=right["prompt"],
        sampling={
            key: list(value) if isinstance(value, tuple) else value
            for key, value in params.items()
            if key not in _NOT_SAMPLING
        },
        jobs=params.get("n", 1),
        max_length=params.get("max_length", limits.DEFAULT_TEXT_MAX_LENGTH),
        max_context_length=params.get("max_context_length", limits.DEFAULT_CONTEXT_LENGTH),
        models=tuple(dict.fromkeys(right.get("models", ()))),
        named_workers=workers,
        has_template_fields=bool(right.get("template_fields")),
        extra_source_images=len(right.get("extra_source_images", ())),
        **{key: right[key] for key in _KEPT_AS_SENT if key in right},
    )
