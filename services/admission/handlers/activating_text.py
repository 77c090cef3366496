"""The last step of AdmitText: the request is let in, in one commit."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from services.admission import durations, repo
from services.admission.deps import Deps
from services.admission.handlers import affording_text
from services.admission.handlers.affording_text import Bought
from services.admission.rules import text_row
from services.admission.rules.row import Origin, Row

_let_in_now = durations.wp_activate(repo.activate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is known of the row whatever its request can afford. `falls_back`: its shared key was empty."""

    id: UUID
    created: datetime
    prompt: str
    origin: Origin
    falls_back: bool


@durations.activate_wp
async def activate(draft: Draft, bought: Bought, deps: Deps) -> Bought:
    """Queues the request; gives the form it was queued in. Raises Refusal."""
    try:
        await _let_in_now(deps.store, _row(draft, bought, deps), hold=bought.hold, tax=bought.price.tax)
    except repo.HoldNotCovered as poor:
        # the kudos went elsewhere since they were checked
        bought = await affording_text.lowered(bought, poor.available, deps)
        await _let_in_now(deps.store, _row(draft, bought, deps), hold=0, tax=bought.price.tax)
    affording_text.decided(bought, bought.outcome, deps)
    return bought


def _row(draft: Draft, bought: Bought, deps: Deps) -> Row:
    return text_row.build(
        bought.request,
        bought.fitted,
        bought.matched,
        draft.origin,
        id=draft.id,
        created=draft.created,
        lifetime=timedelta(seconds=deps.settings.request_ttl_seconds),
        quote=bought.price.quote,
        prompt=draft.prompt,
        is_behind=draft.falls_back or bought.is_behind,
    )
