"""An answer of each shape, as the document shows it."""

from collections.abc import Mapping

from services.gateway.documents.example_bodies import JOB, MODEL, WORKER

_REQUEST = "ccc1e8c2-27ce-4e66-8b52-9984990b53a0"
_KEY = "789805d5-9332-4203-bc07-442cb146066e"
_WHEN = "2026-11-30T17:31:36+00:00"
_STATUS: Mapping[str, object] = {
    "finished": 1,
    "processing": 0,
    "restarted": 0,
    "waiting": 0,
    "done": True,
    "faulted": False,
    "wait_time": 0,
    "queue_position": 0,
    "kudos": 3,
    "is_possible": True,
    "eligible_workers": 1,
    "eligible_worker_threads": 1,
    "might_stall": False,
}
_GENERATION: Mapping[str, object] = {
    "worker_id": WORKER,
    "worker_name": "My worker",
    "model": MODEL,
    "state": "ok",
    "text": "Red, green and blue.",
    "seed": 0,
    "gen_metadata": [],
}
_PERIOD = {"requests": 12, "tokens": 960}
_REVIEWER = {"id": 2, "username": "moderator#2"}
_NOTE = {"id": 7, "note": "Asked the account's holder.", "created": _WHEN, "reviewer": _REVIEWER}
_RETENTION = {"text_days": None, "ipaddr_days": 30, "ceiling_days": 365}
_SUSPICION = {"id": 5, "name": "UNREASONABLY_FAST", "description": "Faster than any known machine.", "count": 5}
_CARD: Mapping[str, object] = {
    "id": MODEL,
    "object": "model",
    "created": 1796060121,
    "owned_by": "ai-horde",
    "context_length": 8192,
    "max_model_len": 8192,
    "max_completion_tokens": 1024,
    "horde": {"workers": 1, "features": ["seed"], "queued": 0, "eta": 0},
}
_PAYLOAD = {"prompt": "Once upon a time", "n": 1, "max_length": 80, "max_context_length": 2048}

ANSWERS: Mapping[str, object] = {
    "Error": {"message": "No user matches this API key.", "rc": "InvalidAPIKey"},
    "CompletionError": {
        "error": {
            "message": "No user matches this API key.",
            "type": "invalid_request_error",
            "param": None,
            "code": "invalid_api_key",
            "rc": "InvalidAPIKey",
            "request_id": "47e3d5a1b5e78a43",
        }
    },
    "Job": {
        "payload": _PAYLOAD,
        "id": JOB,
        "ids": [JOB],
        "messages": [],
        "ttl": 150,
        "extra_source_images": None,
        "skipped": {},
        "softprompt": None,
        "model": MODEL,
    },
    "Accepted": {"accepted_seq": 1, "cancelled": False},
    "Reward": {"reward": 2.65},
    "Queued": {"id": _REQUEST, "kudos": 11},
    "QuotedOrRepeated": {"kudos": 11},
    "TextQuote": {"kudos": 9, "resolved": {"prompt": "Once upon a time", "models": [MODEL], "style": None}},
    "ChatStatus": {
        **_STATUS,
        "generations": [
            {
                **_GENERATION,
                "message": {"role": "assistant", "content": "Red, green and blue."},
                "finish_reason": "stop",
                "prompt_tokens": 21,
                "completion_tokens": 7,
            }
        ],
        "impossible_reason": None,
        "context_adjustments": None,
    },
    "TextStatus": {**_STATUS, "generations": [_GENERATION]},
    "TextSubmission": {"prompt": "Once upon a time", "params": {"n": 1, "max_length": 80}, "models": [MODEL]},
    "Completion": {
        "id": "chatcmpl-ccc1e8c227ce4e668b529984990b53a0",
        "object": "chat.completion",
        "created": 1796060141,
        "model": MODEL,
        "system_fingerprint": "fp_7df6cdf28e",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Red, green and blue.", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 21, "completion_tokens": 7, "total_tokens": 28},
        "horde": {"request_id": _REQUEST, "kudos": 3, "worker": {"id": WORKER, "name": "My worker"}},
    },
    "ModelCard": _CARD,
    "ModelCards": {"object": "list", "data": [_CARD]},
    "Living": {"status": "ok"},
    "Model": {
        "name": MODEL,
        "count": 2,
        "type": "text",
        "performance": 21.5,
        "queued": 160,
        "jobs": 2,
        "eta": 3,
    },
    "Heartbeat": {
        "message": "OK",
        "version": "0.1.0",
        "queue": 0,
        "threads": 1,
        "active_count": 1,
        "db_connection": True,
    },
    "Modes": {"maintenance_mode": False, "invite_only_mode": False},
    "News": {"date_published": "2026-11-30", "newspiece": "Something happened.", "importance": "Information"},
    "Performance": {"queued_text_requests": 2, "queued_tokens": 160, "text_worker_count": 1, "text_thread_count": 2},
    "TextTotals": dict.fromkeys(("minute", "hour", "day", "month", "total"), _PERIOD),
    "TextModelTotals": {period: {MODEL: 12} for period in ("day", "month", "total")},
    "Account": {
        "username": "somebody#4711",
        "id": 4711,
        "kudos": 495.7,
        "concurrency": 30,
        "moderator": False,
        "trusted": False,
        "worker_count": 0,
        "account_age": 86400,
    },
    "AccountChanged": {"public_workers": True},
    "Done": {"message": "OK"},
    "Usage": {
        "user_id": 4711,
        "days": 30,
        "usage": [
            {
                "day": "2026-11-30",
                "model": MODEL,
                "sharedkey": None,
                "requests": 1,
                "generations": 2,
                "tokens": 160,
                "kudos": 4.3,
            }
        ],
        "total": {"requests": 1, "generations": 2, "tokens": 160, "kudos": 4.3},
    },
    "SharedKey": {"id": _KEY, "username": "somebody#4711", "name": "for friends", "kudos": 500, "utilized": 0},
    "Given": {"transferred": 100},
    "Awarded": {"awarded": 100},
    "TestAccountMade": {
        "api_key": "To5jDK0izpwC9nxEY6oKgQ",
        "user_id": 7,
        "username": "test_user",
        "alias": "test_user#7",
        "kudos": 1000,
        "created": True,
    },
    "Document": {"html": "<h1>Terms of service</h1>"},
    "ReviewQueues": {
        "promotion_threshold": 10000,
        "suspicion_threshold": 5,
        "promotion_blocked_users": [
            {"user_id": 4711, "username": "somebody#4711", "evaluating_kudos": 12000, "suspicions": [_SUSPICION]}
        ],
        "promotion_eligible_users": [],
        "paused_workers": [
            {
                "id": WORKER,
                "name": "My worker",
                "worker_type": "text",
                "owner": "somebody#4711",
                "suspicions": [_SUSPICION],
            }
        ],
        "paused_workers_total": 1,
    },
    "ModerationEvents": {
        "events": [
            {
                "id": 42,
                "created": _WHEN,
                "reason": "filter_rejection",
                "outcome": "rejected",
                "user_id": 4711,
                "models": [MODEL],
                "text_state": "stored",
                "notes": [_NOTE],
                "marks": [],
            }
        ],
        "next_cursor": None,
        "retention": _RETENTION,
    },
    "ModerationNote": {**_NOTE, "event_id": 42, "author_id": 2},
    "ModerationMarks": {"event_id": 42, "marks": [{"mark": "seen", "created": _WHEN, "reviewer": _REVIEWER}]},
    "SuspicionHistory": {
        "events": [
            {
                "id": 3,
                "created": _WHEN,
                "worker_id": WORKER,
                "worker_name": "My worker",
                "user_id": 4711,
                "suspicion_id": 5,
                "reason": "UNREASONABLY_FAST",
                "detail": "212 tokens per second",
            }
        ],
        "next_cursor": None,
    },
    "AccessLog": {
        "accesses": [{"id": 1, "created": _WHEN, "moderator_id": 2, "action": "list", "event_ids": [42]}],
        "next_cursor": None,
    },
    "RetentionPreview": {
        "steps": [{"step": "address", "due_now": 0, "due_in_7_days": 2, "due_in_30_days": 9}],
        "retention": _RETENTION,
    },
    "Filter": {
        "id": "1",
        "regex": r"\bforbidden\w*",
        "filter_type": 10,
        "description": "A word that nobody may send.",
        "replacement": "",
        "user": "moderator#2",
    },
    "FilterFindings": {"suspicion": 1, "matches": ["forbidden"]},
    "CompiledFilter": {"filter_type": 10, "regex": r"\bforbidden\w*"},
    "AddressTimeout": {"ipaddr": "203.0.113.0/24", "seconds": 86400},
    "WorkerBlocked": {"message": "OK", "blocked": True},
    "WorkerMessage": {
        "id": _KEY,
        "worker_id": WORKER,
        "message": "Please update your bridge.",
        "origin": "moderator#2",
        "expiry": 24,
    },
    "WorkerMessageDeleted": {"message": "OK"},
    "Worker": {
        "name": "My worker",
        "id": WORKER,
        "type": "text",
        "online": True,
        "requests_fulfilled": 12,
        "kudos_rewards": 31.8,
        "performance": "21.5 tokens per second",
        "threads": 1,
        "uptime": 3600,
        "maintenance_mode": False,
        "trusted": False,
        "models": [MODEL],
        "bridge_agent": "my-bridge:1:https://example.org/my-bridge",
        "max_length": 512,
        "max_context_length": 8192,
    },
    "WorkerChanged": {"maintenance": True, "info": "A quiet machine."},
    "WorkerDeleted": {"deleted_id": WORKER, "deleted_name": "My worker"},
}
"""By the name of the answer's shape."""
