"""AdmitText: the checks of a text submission, in the order of base-domain 3.4.

The first refusal wins and has changed nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid4

from horde.contract.text import TextRequest, parse_text_request
from horde.heavy import heavy
from services.admission import durations
from services.admission.deps import Deps
from services.admission.handlers import activating_text, affording_text, fitting_text, knowing, shaping
from services.admission.handlers.activating_text import Draft
from services.admission.handlers.affording_text import Bought
from services.admission.rules import entry, text_entry, text_fit, text_row
from services.admission.rules.address import Address
from services.admission.rules.answers import Admitted, Outcome
from services.admission.rules.facts import Account, Ask, Submission
from services.admission.rules.impossible import unserved_warning


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """A submission that may enter: who sends it, with what prompt, in the form it can afford."""

    known: Submission
    account: Account
    address: Address
    prompt: str
    bought: Bought
    falls_back: bool


@durations.generate
async def admit_text(ask: Ask, deps: Deps) -> Admitted:
    """Queues one text request, or quotes it. Raises Refusal."""
    now, new_id = deps.clock.now(), uuid4()
    request = await heavy(parse_text_request, ask.body)
    checked = await _checked(request, ask, now, new_id, deps)
    prompt, bought = checked.prompt, checked.bought
    favours_address = entry.favours_address(checked.account, proxied=checked.address.proxied)
    if request.dry_run:
        deps.events.text_answered(Outcome.QUOTED)
        quote = text_row.quoted(bought.request, bought.fitted, prompt, bought.price, now)
        return replace(quote, favours_address=favours_address)
    draft = Draft(
        id=new_id,
        created=now,
        prompt=prompt,
        origin=shaping.origin(checked.account, checked.known, checked.address, ask.caller, ask.traceparent, None),
        falls_back=checked.falls_back,
    )
    bought = await activating_text.activate(draft, bought, deps)
    deps.events.text_answered(Outcome.QUEUED)
    deps.events.activated((deps.clock.now() - now).total_seconds())
    deps.telling.tell(new_id)
    unserved = not bought.available.workers and not checked.known.raid
    return Admitted(
        outcome=Outcome.QUEUED,
        request_id=new_id,
        kudos=bought.price.quote,
        created=now,
        message=unserved_warning(deps.settings.request_ttl_seconds) if unserved else "",
        favours_address=favours_address,
    )


@durations.validate
async def _checked(request: TextRequest, ask: Ask, now: datetime, new_id: UUID, deps: Deps) -> _Checked:
    """Every check up to the price, in their order."""
    text_entry.refuse_style(request)
    known = await knowing.look_up_text(request, ask.caller, deps)
    falls_back = text_entry.falls_back(request, known.sharedkey, now)
    if falls_back:
        known = await knowing.look_up_text(request, knowing.as_anonymous(ask.caller), deps)
    fitted = await fitting_text.fit(request, deps)
    account = _entered(request, known, now)
    address = knowing.address_of(ask.caller, deps)
    entry.refuse_in_timeout(await deps.standings.timeout_seconds(address.text))
    prompt = await fitting_text.screen(request, account, address, new_id, deps)
    text_fit.refuse_bad_text_params(request, fitted)
    text_entry.refuse_images(request)
    bought = await affording_text.afford(request, fitted, known, account, deps)
    return _Checked(known=known, account=account, address=address, prompt=prompt, bought=bought, falls_back=falls_back)


def _entered(request: TextRequest, known: Submission, now: datetime) -> Account:
    """Steps 7 to 18: maintenance, the key, what only some may send, the named workers, the concurrency limit."""
    entry.refuse_in_maintenance(maintenance=known.maintenance)
    text_entry.refuse_webhook(request)
    account = entry.payer(known, now)
    text_entry.refuse_proxied_account(request, account)
    entry.refuse_deleted(account)
    text_entry.refuse_many_images(request, account)
    text_entry.refuse_empty_prompt(request)
    entry.refuse_unknown_workers(request.named_workers, known.missing_workers)
    text_entry.refuse_unbatched(request, account)
    entry.refuse_when_too_many(account, known.waiting, request.jobs)
    return account
