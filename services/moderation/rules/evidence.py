"""What is written down of a refused prompt or a reported job.

moderation.md A1: capture must not be evadable, and must be provable: the digest is that of the very bytes that lie in
the evidence store.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from horde.contract.ip_subject import ip_subject, ip_subject_key
from services.moderation.rules.ip_subject import origin_text

MAX_STAGE_CHARACTERS = 16_000
_MAX_PROXIED_ACCOUNT = 1000
_MAX_MODELS = 100
_MAX_MODEL_NAME = 255
_REPLACEMENT = "\ufffd"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_OBJECT_KEY = re.compile(r"evidence/([1-9][0-9]{0,18})\.json", re.ASCII)

WORKER_REPORT = "worker_csam"
"""The reason of an event that a worker raised. No finding about the account."""


class Path(StrEnum):
    """Which check refused; the value is the event's reason."""

    FILTER = "filter_rejection"
    MODEL = "model_rejection"


@dataclass(frozen=True, slots=True)
class Stages:
    """The texts of an event, clipped, with the digest of their canonical JSON. A stage that does not exist is None."""

    submitted_prompt: str | None
    moderation_prompt: str | None
    effective_prompt: str | None
    sha256: str | None
    characters: int | None
    truncated: bool

    @property
    def state(self) -> str:
        """Where the text is when the event is written."""
        return "none" if self.sha256 is None else "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One row of moderation_events."""

    account_id: int
    proxied_account: str | None = None
    request_id: UUID | None = None
    job_id: UUID | None = None
    worker_id: UUID | None = None
    address: str | None
    origin: str | None
    subject_key: str | None
    models: tuple[str, ...]
    reason: str
    outcome: str
    stages: Stages
    happened: datetime | None = None
    """None: now, by the clock of the database, which retention goes by too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerReport:
    """What a worker reported of a job, as dispatch tells it."""

    request_id: UUID | None
    job_id: UUID
    worker_id: UUID
    worker_name: str
    account_id: int
    proxied_account: str | None
    origin: str
    models: tuple[str, ...]
    loras: tuple[str, ...]
    submitted_prompt: str | None
    effective_prompt: str | None
    reported: datetime | None = None


def capture(
    *,
    account_id: int,
    origin: str,
    models: Sequence[str],
    prompt: str,
    reason: Path,
    secret: str | None,
    proxied_account: str | None = None,
) -> Evidence:
    """The evidence of a rejection. `prompt` is what was submitted, and, unchanged until then, what was judged."""
    subject = ip_subject(origin)
    return Evidence(
        account_id=account_id,
        proxied_account=stored_proxied_account(proxied_account),
        address=subject,
        origin=origin_text(origin),
        subject_key=ip_subject_key(subject, secret),
        models=_storable_models(models),
        reason=reason.value,
        outcome="rejected",
        stages=stages_of(submitted=prompt, moderation=prompt),
    )


def capture_report(report: WorkerReport, *, secret: str | None) -> Evidence:
    """The evidence of a worker's report. What moderation once read of the prompt cannot be had back."""
    subject = ip_subject(report.origin)
    return Evidence(
        account_id=report.account_id,
        proxied_account=stored_proxied_account(report.proxied_account),
        request_id=report.request_id,
        job_id=report.job_id,
        worker_id=report.worker_id,
        address=subject,
        origin=origin_text(report.origin),
        subject_key=ip_subject_key(subject, secret),
        models=_storable_models(report.models),
        reason=WORKER_REPORT,
        outcome="censored",
        stages=stages_of(submitted=report.submitted_prompt, effective=report.effective_prompt),
        happened=report.reported,
    )


def stages_of(*, submitted: str | None = None, moderation: str | None = None, effective: str | None = None) -> Stages:
    """The stages as they are stored. No stage is ever a copy of another that is missing."""
    whole = [None if text is None else storable(text) for text in (submitted, moderation, effective)]
    clipped = [None if text is None else text[:MAX_STAGE_CHARACTERS] for text in whole]
    first, second, third = clipped
    sha256, characters = digest(first, second, third)
    return Stages(first, second, third, sha256, characters, truncated=whole != clipped)


def digest(submitted: str | None, moderation: str | None, effective: str | None) -> tuple[str | None, int | None]:
    """The SHA-256 of the canonical object and the characters of all stages; None of both when no stage exists."""
    known = [text for text in (submitted, moderation, effective) if text is not None]
    if not known:
        return None, None
    body = canonical_text(submitted, moderation, effective)
    return hashlib.sha256(body).hexdigest(), sum(map(len, known))


def canonical_text(submitted: str | None, moderation: str | None, effective: str | None) -> bytes:
    """The object of the evidence store: just three keys, sorted, compact, UTF-8 as it is. Its digest is the event's."""
    stages = {"effective_prompt": effective, "moderation_prompt": moderation, "submitted_prompt": submitted}
    return json.dumps(stages, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def evidence_object_key(event_id: int) -> str:
    """Where the text of an event lies. No other function makes such a key, so nothing else can be addressed."""
    return f"evidence/{event_id:d}.json"


def event_of_object(key: str) -> int | None:
    """The event of an object; None when the key is not one of ours."""
    match = _OBJECT_KEY.fullmatch(key)
    return None if match is None else int(match[1])


def storable(text: str) -> str:
    """Without what the database refuses (NUL, lone surrogates): else a client could make its own evidence fail."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)


def stored_proxied_account(name: str | None) -> str | None:
    """Whom a service account named, as far as it is kept."""
    return storable(name)[:_MAX_PROXIED_ACCOUNT] if name else None


def _storable_models(models: Sequence[str]) -> tuple[str, ...]:
    # Never cleared by retention, so it must not become a place for free text.
    return tuple(storable(model)[:_MAX_MODEL_NAME] for model in models[:_MAX_MODELS])
