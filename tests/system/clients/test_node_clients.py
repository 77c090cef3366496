"""Unmodified JavaScript clients of OpenAI's API, each as its manual uses it, against a worker built on horde-sdk."""

from tests.system.clients.conftest import MODEL, Run
from tests.system.clients.test_python_clients import WEATHER, echo


def test_openai(in_node: Run) -> None:
    found = in_node("use_openai")
    assert found == {
        "create": echo("Hello"),
        "usage": True,
        "stream": echo("Hi"),
        "final": echo("Hey"),
        "parse": WEATHER,
        "tool": "The tool said: Sunny in Paris",
        "refused": ["NotFoundError", 404, "model_not_found", "model"],
        "models": found["models"],
        "model": MODEL,
    }
    assert MODEL in found["models"]


def test_vercel_ai_sdk(in_node: Run) -> None:
    found = in_node("use_ai_sdk")
    assert set(found) == {"compatible", "openai"}
    for answers in found.values():
        assert answers == {
            "generate": echo("Hello"),
            "usage": True,
            "stream": echo("Hi"),
            "stream_usage": True,
            "finish": "stop",
            "object": WEATHER,
            "tool": "The tool said: Sunny in Paris",
        }


_FOUND_BY_AI_HORDE = {
    "heartbeat": True,
    "modes": [403, "NotModerator", []],
    "modesOfModerators": ["invite_only_mode", "maintenance_mode", "raid_mode"],
    "performance": True,
    "imageModels": [],
    "news": [],
    "switched": {"raid_mode": False},
    "me": True,
    "part": ["id", "kudos"],
    "details": [],
    "masked": ["username"],
    "users": True,
    "updated": {"public_workers": True},
    "unknownKey": [401, "InvalidAPIKey", []],
    "lent": [50, "for friends", 0],
    "relent": 70,
    "seen": 70,
    "returned": {"message": "OK"},
    "given": {"transferred": 5},
    "notGiven": [400, "InvalidTargetUsername", []],
    "empty": [None, [], {}],
    "queued": True,
    "waiting": ["done", "is_possible", "waiting"],
    "job": ["Once", "test/Npm-7B", True],
    "reward": True,
    "again": [400, "DuplicateGen", []],
    "done": [True, [["Once upon a time", "test/Npm-7B", "npm worker", "ok"]]],
    "cancelled": [1, [], True],
    "invalid": [400, "BadRequest", ["params.n"]],
    "totals": True,
    "models": 1,
    "model": [["test/Npm-7B", 1, "text"]],
    "worker": ["id", "name"],
    "workerDetails": ["test/Npm-7B"],
    "maintained": {"maintenance": True, "info": "away"},
    # a stored reply names its worker as long as its request lives
    "deleted": [423, "Locked", []],
    "unknownWorker": [404, "WorkerNotFound", []],
    "filter": ["npm\\w+word", 10, "from npm"],
    "filtered": True,
    "oneFilter": "from npm",
    "changedFilter": "changed",
    "matches": ["npmbadword"],
    "noFilter": {"message": "OK"},
    "timeout": {"message": "OK"},
    "notModerator": [403, "NotModerator", []],
}


def test_zeldafans_ai_horde(in_node: Run) -> None:
    """Every method of it that names a route of ours, with field masks and caches as it has them."""
    assert in_node("use_ai_horde") == _FOUND_BY_AI_HORDE
