"""AdmitChat: the checks of a chat submission, in the reference's order.

The first refusal wins and has changed nothing.
"""

from datetime import datetime
from uuid import uuid4

from horde.contract.chat import ChatRequest, parse_chat_request
from horde.contract.chat.fingerprint import fingerprint
from horde.contract.chat.images import image_urls
from horde.heavy import heavy
from services.admission.deps import Deps
from services.admission.handlers import activating, costing, knowing, shaping
from services.admission.rules import entry
from services.admission.rules.answers import Admitted, Outcome, quoted, repeated
from services.admission.rules.facts import Account, Ask, Submission
from services.admission.rules.impossible import UNSERVED_WARNING


async def admit_chat(ask: Ask, deps: Deps) -> Admitted:
    """Queues one chat request, or answers the earlier one of its operation key, or quotes. Raises Refusal."""
    now, new_id = deps.clock.now(), uuid4()
    request, mark = await heavy(_read, ask.body)
    known = await knowing.look_up(request, ask.caller, deps)
    if mark is not None and (claim := entry.repeated(known.claim, mark)) is not None:
        deps.events.answered(Outcome.REPEATED)
        return repeated(claim, now)
    account = _entered(request, known, now, deps)
    address = knowing.address_of(ask.caller, deps)
    entry.refuse_in_timeout(await deps.standings.timeout_seconds(address.text))
    screened = await shaping.screen(request, account, address, new_id, deps)
    shape = shaping.shape(request, screened, account, known.offers, deps)
    cost = await costing.cost(request, shape, known, account, deps)
    favours_address = entry.favours_address(account, proxied=address.proxied)
    if request.horde.dry_run:
        deps.events.answered(Outcome.QUOTED)
        return quoted(request, shape.sized, cost.price, now, favours_address=favours_address)
    row = shaping.row(
        request,
        shape,
        shaping.origin(account, known, address, ask.caller, ask.traceparent, mark),
        new_id=new_id,
        now=now,
        quote=cost.price.quote,
        deps=deps,
    )
    claim = await activating.activate(row, request, account, cost, image_urls(shape.sized.messages), deps)
    if claim is not None:  # another submission of the operation came first
        deps.events.answered(Outcome.REPEATED)
        return repeated(entry.repeated(claim, mark or "") or claim, now)
    deps.events.answered(Outcome.QUEUED)
    deps.telling.tell(new_id)
    unserved = not cost.available.workers and not known.raid
    return Admitted(
        outcome=Outcome.QUEUED,
        request_id=new_id,
        kudos=cost.price.quote,
        created=now,
        message=UNSERVED_WARNING if unserved else "",
        favours_address=favours_address,
    )


def _read(body: bytes) -> tuple[ChatRequest, str | None]:
    """The request, and the operation's fingerprint; None when nothing is claimed: no key, or a dry run."""
    request = parse_chat_request(body)
    claims = request.horde.operation_key is not None and not request.horde.dry_run
    return request, fingerprint(request) if claims else None


def _entered(request: ChatRequest, known: Submission, now: datetime, deps: Deps) -> Account:
    """Steps 4 and 5: the flag, maintenance, the key, the named workers, the concurrency limit."""
    entry.refuse_when_closed(is_open=deps.settings.chat_admission_enabled)
    entry.refuse_in_maintenance(maintenance=known.maintenance)
    account = entry.authenticate(known, now)
    entry.refuse_unknown_workers(request.workers, known.missing_workers)
    entry.refuse_when_too_many(account, known.waiting)
    return account
