"""A body for each address that takes one, as the document shows it. Each can be sent as it stands."""

from collections.abc import Mapping

JOB = "8c93a1db-c574-4ea8-9021-5996ad885e94"
WORKER = "0909e4f1-17ad-45bb-8c5d-3a9f58660736"
MODEL = "koboldcpp/Mistral-7B"

_CHAT: Mapping[str, object] = {
    "model": MODEL,
    "messages": [
        {"role": "system", "content": "Answer in one sentence."},
        {"role": "user", "content": "Name three colours."},
    ],
    "max_tokens": 100,
    "temperature": 0.7,
}

BODIES: Mapping[str, object] = {
    "Pop": {
        "name": "My worker",
        "models": [MODEL],
        "bridge_agent": "my-bridge:1:https://example.org/my-bridge",
        "threads": 1,
        "max_length": 512,
        "max_context_length": 8192,
        "chat_jobs": True,
        "model_id": MODEL,
        "chat_features": ["prompt_overflow_refused", "seed"],
        "chat_limits": {"max_context_length": 8192, "max_length": 1024},
    },
    "Progress": {"id": JOB, "seq": 1, "delta": {"content": "Red, "}},
    "Reply": {
        "id": JOB,
        "model_id": MODEL,
        "message": {"role": "assistant", "content": "Red, green and blue."},
        "finish_reason": "stop",
        "prompt_tokens": 21,
        "completion_tokens": 7,
    },
    "ChatRequest": {**_CHAT, "horde": {"max_kudos": 100}},
    "CompletionRequest": {**_CHAT, "stream": False},
    "TextRequest": {
        "prompt": "Once upon a time",
        "params": {"n": 1, "max_length": 80, "max_context_length": 2048, "temperature": 0.7},
        "models": [MODEL],
        "slow_workers": True,
    },
    "ModesChange": {"invite_only_mode": True},
    "AccountChange": {"public_workers": True, "contact": "me@example.org"},
    "SharedKeyChange": {"kudos": 500, "expiry": 30, "name": "for friends", "max_text_tokens": 200},
    "Gift": {"username": "somebody#4711", "amount": 100},
    "TestAccount": {"username": "test_user", "oauth_id": "ci_test_user", "moderator": False, "kudos": 1000},
    "NewModerationNote": {"note": "Asked the account's holder; answer is due on Friday."},
    "NewModerationMark": {"mark": "seen"},
    "NewFilter": {"regex": r"\bforbidden\w*", "filter_type": 10, "description": "A word that nobody may send."},
    "FilterTrial": {"prompt": "Something forbidden", "filter_type": 10},
    "FilterChange": {"description": "A better description."},
    "NewAddressTimeout": {"ipaddr": "203.0.113.0/24", "hours": 24},
    "AddressToFree": {"ipaddr": "203.0.113.0/24"},
    "WorkerTimeout": {"days": 3},
    "NewWorkerMessage": {"worker_id": WORKER, "message": "Please update your bridge.", "expiry": 24},
    "WorkerChange": {"maintenance": True, "maintenance_msg": "Back on Monday.", "info": "A quiet machine."},
}
"""By the name of the body's shape."""
