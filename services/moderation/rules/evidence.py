"""What is written down of a refused prompt. moderation.md A1: capture must not be evadable, and must be provable."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from services.moderation.rules.ip_subject import ip_subject, ip_subject_key, origin_text

MAX_STAGE_CHARACTERS = 16_000
_MAX_MODELS = 100
_MAX_MODEL_NAME = 255
_REPLACEMENT = "\ufffd"


class Path(StrEnum):
    """Which check refused; the value is the event's reason."""

    FILTER = "filter_rejection"
    MODEL = "model_rejection"


@dataclass(frozen=True, slots=True)
class Stages:
    """The texts of an event, clipped, with the digest of their canonical JSON."""

    submitted_prompt: str
    moderation_prompt: str
    sha256: str
    characters: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """One row of moderation_events."""

    account_id: int
    address: str | None
    origin: str | None
    subject_key: str | None
    models: tuple[str, ...]
    reason: Path
    stages: Stages


def capture(
    *, account_id: int, origin: str, models: Sequence[str], prompt: str, reason: Path, secret: str | None
) -> Evidence:
    """The evidence of a rejection. `prompt` is what was submitted, and, unchanged until then, what was judged."""
    subject = ip_subject(origin)
    return Evidence(
        account_id=account_id,
        address=subject,
        origin=origin_text(origin),
        subject_key=ip_subject_key(subject, secret),
        models=tuple(_storable(model)[:_MAX_MODEL_NAME] for model in models[:_MAX_MODELS]),
        reason=reason,
        stages=_stages(prompt),
    )


def _stages(prompt: str) -> Stages:
    text = _storable(prompt)
    clipped = text[:MAX_STAGE_CHARACTERS]
    document = {"effective_prompt": None, "moderation_prompt": clipped, "submitted_prompt": clipped}
    canonical = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return Stages(
        submitted_prompt=clipped,
        moderation_prompt=clipped,
        sha256=hashlib.sha256(canonical.encode()).hexdigest(),
        characters=2 * len(clipped),
        truncated=len(text) > MAX_STAGE_CHARACTERS,
    )


def _storable(text: str) -> str:
    """Without what the database refuses (NUL, lone surrogates): else a client could make its own evidence fail."""
    return "".join(_REPLACEMENT if char == "\x00" or "\ud800" <= char <= "\udfff" else char for char in text)
