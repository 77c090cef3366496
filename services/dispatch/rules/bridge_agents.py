"""What a worker's bridge agent (`name:version:url`) says about its backend. base-domain 4.4."""

import re

UNKNOWN = "unknown:0:unknown"

_SEMANTIC_VERSION = re.compile(r"\d+(\.\d+){0,2}([-+][0-9A-Za-z.+-]*)?")

_VALIDATED = frozenset(
    {
        "AI Horde Worker",
        "AI Horde Worker~aphrodite~oai",
        "AI Horde Worker~aphrodite~kai",
        "KoboldCppEmbedWorker",
        "TabbyAPI",
    }
)


def agent_name(bridge_agent: str) -> str:
    """The backend's name; `unknown` when the agent is not `name:version:rest` with a semantic version."""
    parts = bridge_agent.split(":", 2)
    if len(parts) != 3 or not _SEMANTIC_VERSION.fullmatch(parts[1]):  # noqa: PLR2004 - the three named above
        return "unknown"
    return parts[0]


def is_validated(bridge_agent: str) -> bool:
    """Whether the backend is one whose replies are known to be what they claim."""
    return agent_name(bridge_agent) in _VALIDATED
