"""A text request as dispatch queues it, and the answers that tell of it."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from horde.contract.text import TextRequest
from services.admission.rules.answers import Admitted, Outcome
from services.admission.rules.entry import worker_id
from services.admission.rules.pricing import Price
from services.admission.rules.row import Origin, Row
from services.admission.rules.text_fit import Fitted


def matched_columns(request: TextRequest, fitted: Fitted, *, min_speed: float, account_id: int) -> dict[str, Any]:
    """What workers are matched on: all that measuring the availability needs."""
    return {
        "is_chat": False,
        "user_id": account_id,
        "models": list(request.models),
        "max_length": fitted.max_length,
        "max_context_length": fitted.max_context_length,
        "trusted_workers": request.trusted_workers,
        "validated_backends": request.validated_backends,
        "slow_workers": request.slow_workers,
        "min_speed": min_speed,
        "workers": [str(worker) for worker in map(worker_id, request.workers) if worker is not None],
        "worker_blacklist": request.worker_blacklist,
        "softprompt": request.softprompt,
    }


def stored_params(request: TextRequest, fitted: Fitted) -> dict[str, Any]:
    """The sampling values that were sent, and both lengths."""
    return {
        **request.sampling,
        "max_length": fitted.max_length,
        "max_context_length": fitted.max_context_length,
    }


def build(  # noqa: PLR0913 - a row is what all earlier steps found out
    request: TextRequest,
    fitted: Fitted,
    matched: Mapping[str, Any],
    origin: Origin,
    *,
    id: UUID,  # noqa: A002 - the column's name
    created: datetime,
    lifetime: timedelta,
    quote: int,
    prompt: str,
    is_behind: bool,
) -> Row:
    """Every column that is not at its default. `quote` in hundredths; `is_behind`: it waits behind everybody else."""
    params = stored_params(request, fitted)
    optional = {
        "sharedkey_id": None if origin.sharedkey_id is None else str(origin.sharedkey_id),
        "webhook": request.webhook,
        "proxied_account": request.proxied_account,
        "traceparent": origin.traceparent,
    }
    columns = {
        **matched,
        "id": str(id),
        "created": created.isoformat(),
        "expiry": (created + lifetime).isoformat(),
        "jobs": request.jobs,
        "kudos": quote,
        "params": params,
        "gen_payload": params,
        "client_agent": origin.client_agent,
        "ipaddr": origin.address,
        "downgraded": is_behind,
        **{name: value for name, value in optional.items() if value is not None},
    }
    return Row(id, created, columns, prompt, request.prompt)


def quoted(request: TextRequest, fitted: Fitted, prompt: str, cost: Price, now: datetime) -> Admitted:
    """A dry run's answer: the price, and what the submission resolved to (base-domain 3.3)."""
    resolved = {
        "prompt": prompt,
        "params": {"n": request.jobs, **stored_params(request, fitted)},
        "models": request.models,
        "style": None,
        "estimated_prompt_tokens": fitted.estimate,
        "context_fit": fitted.mode,
    }
    return Admitted(
        outcome=Outcome.QUOTED,
        request_id=None,
        kudos=cost.quote,
        created=now,
        resolved=json.dumps(resolved, ensure_ascii=False).encode(),
    )
