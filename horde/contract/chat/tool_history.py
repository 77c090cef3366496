"""OpenAI's rule for tool calls in a history: calls are answered at once, each exactly once. Chat reference, Tools."""

from collections.abc import Sequence

from horde.contract.chat import saying
from horde.contract.chat.request import Message


def check_tool_history(messages: Sequence[Message]) -> None:
    """Raises UnsupportedChatParameter for the first break, with OpenAI's sentence where it has one."""
    issued: frozenset[str] = frozenset()
    unanswered: dict[str, None] = {}
    for position, message in enumerate(messages):
        path = f"messages[{position}]"
        if message["role"] == "tool":
            _answer(message["tool_call_id"], issued, unanswered, path)
            continue
        if unanswered:
            raise _without_answers(f"{path}.role", unanswered)
        issued = frozenset()
        for call in message.get("tool_calls", ()):
            if call["id"] in unanswered:
                raise saying.unsupported(
                    f"{path}.tool_calls", f"the id '{call['id']}' is used by more than one tool call."
                )
            unanswered[call["id"]] = None
        issued = frozenset(unanswered)
    if unanswered:
        raise _without_answers("messages", unanswered)


def _answer(call_id: str, issued: frozenset[str], unanswered: dict[str, None], path: str) -> None:
    if unanswered and call_id not in issued:
        raise saying.unsupported(
            f"{path}.tool_call_id",
            f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message.",
        )
    if call_id not in unanswered:
        raise saying.unsupported(
            f"{path}.role",
            "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
        )
    del unanswered[call_id]


def _without_answers(path: str, unanswered: dict[str, None]) -> Exception:
    return saying.unsupported(
        path,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(unanswered)}",
    )
