"""The fingerprint of an operation: equal for two bodies exactly when they ask for the same.

Chat reference, Operation key.
"""

import hashlib
import json
from dataclasses import asdict

from horde.contract.chat.request import ChatRequest
from horde.contract.chat.requirements import chat_extras

EXCLUDED_OPTIONS = frozenset({"availability_mode", "dry_run", "include_reasoning", "max_kudos", "operation_key"})
"""Options that do not change what is generated."""

_REALS = frozenset({"temperature", "top_p", "frequency_penalty", "presence_penalty"})
"""Values of which `1` and `1.0` are the same."""


def fingerprint(request: ChatRequest) -> str:
    """SHA-256 hex of canonical JSON; the stream hint is not part of it."""
    options = {key: value for key, value in asdict(request.horde).items() if key not in EXCLUDED_OPTIONS}
    facts: dict[str, object] = {
        "messages": request.messages,
        "params": {
            **{key: float(value) if key in _REALS else value for key, value in request.sampling.items()},
            "max_length": request.max_length,
            "max_context_length": request.requested_context,
        },
        "models": sorted(request.models),
        "horde": options,
    }
    extras = chat_extras(request)
    if extras:
        facts["chat_extras"] = extras
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
