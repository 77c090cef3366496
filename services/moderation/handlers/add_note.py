"""AddNote: a moderator writes about an event, which holds the event from retention."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.moderation import review_repo
from services.moderation.deps import Deps
from services.moderation.rules import review
from services.moderation.rules.review import Action, Note, Reviewer

ENDPOINT = "POST /v2/operations/moderation/prompts/{id}/notes"


async def add_note(event_id: int, note: str, reviewer: Reviewer, deps: Deps) -> Note:
    """The note. Raises Refusal(ModerationEventNotFound) and StoreUnavailable."""
    key = review.pseudonym(reviewer.address, deps.settings.secret_key)
    async with deps.store.transaction() as tx:
        made = await review_repo.add_note(tx, event_id, reviewer.account_id, note)
        if made is None:
            raise no_event(event_id)
        await review_repo.log_access(
            tx, reviewer, Action.NOTED, endpoint=ENDPOINT, events=[event_id], request_ip_key=key
        )
        written = await review_repo.notes(tx, [event_id])
    return next(one for one in written[event_id] if one.id == made["id"])


def no_event(event_id: int) -> Refusal:
    """There is no event of this id."""
    return Refusal(reasons.MODERATION_EVENT_NOT_FOUND, f"There is no moderation event {event_id}.")
