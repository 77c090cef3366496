"""horde-sdk's typed requests for the moderators' routes, unmodified, in a process of their own. Prints what it got.

Arguments: a moderator's API key, an event to write about. `AI_HORDE_URL` says where.
"""

import json
import sys
from typing import Any

from horde_sdk.ai_horde_api.ai_horde_clients import AIHordeAPIManualClient
from horde_sdk.ai_horde_api.apimodels.moderation import (
    ModerationOverviewRequest,
    PromptModerationEventsRequest,
    PromptModerationNoteRequest,
    WorkerSuspicionEventsRequest,
)
from horde_sdk.generic_api.apimodels import RequestErrorResponse


def main(api_key: str, event_id: str) -> None:
    """All five routes; the note twice, the second time about an event that is not there."""
    client: Any = AIHordeAPIManualClient()

    def ask(request: Any) -> Any:
        answer = client.submit_request(request, request.get_default_success_response_type())
        if isinstance(answer, RequestErrorResponse):
            return {"error": answer.message, "rc": answer.rc}
        return answer

    note = ask(PromptModerationNoteRequest(apikey=api_key, event_id=int(event_id), note="seen by the SDK"))
    page = ask(PromptModerationEventsRequest(apikey=api_key, limit=10, reason=["model_rejection", "worker_csam"]))
    overview = ask(
        ModerationOverviewRequest(apikey=api_key, limit=5, worker_type=["text"], suspicion_id=[5], sort="owner")
    )
    history = ask(WorkerSuspicionEventsRequest(apikey=api_key, limit=5))
    missing = ask(PromptModerationNoteRequest(apikey=api_key, event_id=4_000_000, note="x"))
    told = {
        "note": note.note,
        "event": page.events[0].id_,
        "hold": page.events[0].hold_source,
        "reviewers": [one.author_id for one in page.events[0].notes],
        "ceiling": page.retention.ceiling_days,
        "paused": [(worker.name, worker.owner, worker.suspicious) for worker in overview.paused_workers],
        "total": overview.paused_workers_total,
        "threshold": overview.suspicion_threshold,
        "history": [(one.worker_name, one.reason) for one in history.events],
        "missing": missing["rc"],
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
