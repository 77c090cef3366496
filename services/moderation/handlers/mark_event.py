"""MarkEvent: a moderator has seen or dismissed an event, which holds nothing from retention."""

from collections.abc import Sequence

from services.moderation import review_repo
from services.moderation.deps import Deps
from services.moderation.handlers.add_note import no_event
from services.moderation.rules.review import Mark, Reviewer


async def mark_event(event_id: int, mark: str | None, reviewer: Reviewer, deps: Deps) -> Sequence[Mark]:
    """All marks of the event now; None takes the moderator's own back.

    Raises Refusal(ModerationEventNotFound) and StoreUnavailable.
    """
    async with deps.store.transaction() as tx:
        if not await review_repo.set_mark(tx, event_id, reviewer.account_id, mark):
            raise no_event(event_id)
        return (await review_repo.marks(tx, [event_id])).get(event_id, ())
