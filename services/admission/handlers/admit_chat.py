"""AdmitChat: the checks of a chat submission, in the reference's order.

The first refusal wins and has changed nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from horde.contract.chat import ChatRequest, parse_chat_request
from horde.contract.chat.fingerprint import fingerprint
from horde.contract.chat.images import image_urls, naming_images
from horde.heavy import heavy
from services.admission import durations
from services.admission.deps import Deps
from services.admission.handlers import activating, costing, knowing, shaping
from services.admission.handlers.costing import Cost
from services.admission.handlers.shaping import Shape
from services.admission.rules import entry
from services.admission.rules.address import Address
from services.admission.rules.answers import Admitted, Outcome, quoted, repeated
from services.admission.rules.facts import Account, Ask, Claim, Submission
from services.admission.rules.impossible import unserved_warning


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """A submission that may enter: who sends it, in what form, at what price."""

    known: Submission
    account: Account
    address: Address
    shape: Shape
    cost: Cost


@durations.generate
async def admit_chat(ask: Ask, deps: Deps) -> Admitted:
    """Queues one chat request, or answers the earlier one of its operation key, or quotes. Raises Refusal."""
    now, new_id = deps.clock.now(), uuid4()
    request, mark = await heavy(_read, ask.body)
    checked = await _checked(request, mark, ask, now, new_id, deps)
    if isinstance(checked, Claim):
        deps.events.answered(Outcome.REPEATED)
        return repeated(checked, now)
    account, shape, cost = checked.account, checked.shape, checked.cost
    favours_address = entry.favours_address(account, proxied=checked.address.proxied)
    if request.horde.dry_run:
        deps.events.answered(Outcome.QUOTED)
        return quoted(request, shape.sized, cost.price, now, favours_address=favours_address)
    row = shaping.row(
        request,
        shape,
        shaping.origin(account, checked.known, checked.address, ask.caller, ask.traceparent, mark),
        new_id=new_id,
        now=now,
        quote=cost.price.quote,
        deps=deps,
    )
    with naming_images(shaping.kept_image_paths(request, shape)):
        claim = await activating.activate(row, request, account, cost, image_urls(shape.sized.messages), deps)
    if claim is not None:  # another submission of the operation came first
        deps.events.answered(Outcome.REPEATED)
        return repeated(entry.repeated(claim, mark or "") or claim, now)
    deps.events.answered(Outcome.QUEUED)
    deps.events.activated((deps.clock.now() - now).total_seconds())
    deps.telling.tell(new_id)
    unserved = not cost.available.workers and not checked.known.raid
    return Admitted(
        outcome=Outcome.QUEUED,
        request_id=new_id,
        kudos=cost.price.quote,
        created=now,
        message=unserved_warning(deps.settings.request_ttl_seconds) if unserved else "",
        favours_address=favours_address,
    )


def _read(body: bytes) -> tuple[ChatRequest, str | None]:
    """The request, and the operation's fingerprint; None when nothing is claimed: no key, or a dry run."""
    request = parse_chat_request(body)
    claims = request.horde.operation_key is not None and not request.horde.dry_run
    return request, fingerprint(request) if claims else None


@durations.validate
async def _checked(
    request: ChatRequest, mark: str | None, ask: Ask, now: datetime, new_id: UUID, deps: Deps
) -> Claim | _Checked:
    """Every check up to the price, in their order; the claim of an earlier submission of the same operation."""
    known = await knowing.look_up(request, ask.caller, deps)
    if mark is not None and (claim := entry.repeated(known.claim, mark)) is not None:
        return claim
    account = _entered(request, known, now, deps)
    address = knowing.address_of(ask.caller, deps)
    entry.refuse_in_timeout(await deps.standings.timeout_seconds(address.text))
    screened = await shaping.screen(request, account, address, new_id, deps)
    shape = shaping.shape(request, screened, account, known.offers, deps)
    cost = await costing.cost(request, shape, known, account, deps)
    return _Checked(known=known, account=account, address=address, shape=shape, cost=cost)


def _entered(request: ChatRequest, known: Submission, now: datetime, deps: Deps) -> Account:
    """Steps 4 and 5: the flag, maintenance, the key, the named workers, the concurrency limit."""
    entry.refuse_when_closed(is_open=deps.settings.chat_admission_enabled)
    entry.refuse_in_maintenance(maintenance=known.maintenance)
    account = entry.authenticate(known, now)
    entry.refuse_unknown_workers(request.workers, known.missing_workers)
    entry.refuse_when_too_many(account, known.waiting)
    return account
