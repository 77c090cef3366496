"""ListEvents: one page of recorded events, and a line in the access log for every text that leaves."""

import asyncio

from horde.contract.ip_subject import ip_subject
from horde.failures import Outage
from horde.store.engine import Transaction
from services.moderation import review_repo
from services.moderation.deps import Deps
from services.moderation.rules import review
from services.moderation.rules.review import EventQuery, Page, RecordedEvent, Reviewer

ENDPOINT = "GET /v2/operations/moderation/prompts"


class AccessNotLogged(Outage):
    """The access log could not be written, so no text may leave."""

    def __init__(self, why: BaseException) -> None:
        super().__init__("the access log", type(why).__name__)


async def list_events(query: EventQuery, reviewer: Reviewer, deps: Deps) -> Page:
    """The page. Raises StoreUnavailable and AccessNotLogged: a text is never served without its line in the log."""
    secret = deps.settings.secret_key
    subject = ip_subject(query.address)
    # Of one moment: else a note could be told of an event that nothing holds.
    async with deps.store.transaction(of_one_moment=True) as tx:
        key = review.pseudonym(query.address, secret)
        picked = await review_repo.pick(tx, query, subject=subject, subject_key=key)
        ids, cursor = review.cut(picked, query.limit, picked)
        events = await review_repo.read(tx, ids)
        notes = await review_repo.notes(tx, ids)
        marks = await review_repo.marks(tx, ids)
        await _log(tx, query, reviewer, events, deps)
    # Signing asks nobody, but a hundred links are a hundred HMACs.
    stored = [event.id for event in events if event.text_state == "stored"]
    links = await asyncio.to_thread(lambda: {event: deps.links.link(event) for event in stored}) if stored else {}
    return Page(events, notes, marks, cursor, {event: link for event, link in links.items() if link is not None})


async def _log(tx: Transaction, query: EventQuery, reviewer: Reviewer, events: list[RecordedEvent], deps: Deps) -> None:
    secret = deps.settings.secret_key
    searched = query.ip_subject_key or review.pseudonym(query.address, secret)
    for action, ids in review.accesses(events, has_store=deps.links.is_configured):
        try:
            await review_repo.log_access(
                tx,
                reviewer,
                action,
                endpoint=ENDPOINT,
                events=ids,
                filters=query.filters,
                subject_key=searched,
                request_ip_key=review.pseudonym(reviewer.address, secret),
            )
        except Exception as failed:
            raise AccessNotLogged(failed) from failed
