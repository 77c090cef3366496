"""The three answers of AdmitChat."""

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from horde.contract.chat import ChatRequest
from services.admission.rules.facts import Claim
from services.admission.rules.pricing import Price
from services.admission.rules.row import stored_params
from services.admission.rules.sizing import Sized


class Outcome(StrEnum):
    """How a submission was answered."""

    QUEUED = "queued"
    REPEATED = "repeated"
    QUOTED = "quoted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The answer. `kudos` in hundredths; `resolved` is JSON, for a dry run."""

    outcome: Outcome
    request_id: UUID | None
    kudos: int
    created: datetime
    message: str = ""
    resolved: bytes = b""
    favours_address: bool = False


def repeated(claim: Claim, now: datetime) -> Admitted:
    """The first request's answer again."""
    return Admitted(outcome=Outcome.REPEATED, request_id=claim.request_id, kudos=claim.kudos, created=now)


def quoted(request: ChatRequest, sized: Sized, cost: Price, now: datetime, *, favours_address: bool) -> Admitted:
    """A dry run's answer: the price, and what the submission resolved to (base-domain 3.3)."""
    resolved = {
        "prompt": sized.prompt,
        "params": stored_params(request, sized),
        "models": request.models,
        "style": None,
        "estimated_prompt_tokens": sized.estimate,
        "context_fit": sized.mode,
    }
    return Admitted(
        outcome=Outcome.QUOTED,
        request_id=None,
        kudos=cost.quote,
        created=now,
        resolved=json.dumps(resolved, ensure_ascii=False).encode(),
        favours_address=favours_address,
    )
