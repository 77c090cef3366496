"""What AdmitChat and AdmitText do with moderation's verdict: a prompt passes, is rewritten, or is refused."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission import repo
from services.admission.deps import Deps
from services.admission.neighbours import Screening
from services.admission.rules.address import Address
from services.admission.rules.facts import Account

_CORRUPT_PROMPT = 8
"""The suspicion's number. base-domain 2.7."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is judged. `whole` is everything in one string, `texts` what may be rewritten, each for itself."""

    whole: str
    texts: Sequence[str]
    models: Sequence[str]
    proxied_account: str = ""


def has_to_be_judged(models: Sequence[str], account: Account, deps: Deps) -> bool:
    """Whether moderation has anything to judge it by; the snapshot clears every other prompt without a call."""
    return deps.policy.has_filters or account.flagged or deps.reference.current.any_nsfw(models)


async def judged(prompt: Prompt, account: Account, address: Address, new_id: UUID, deps: Deps) -> list[str] | None:
    """The texts as they may be used; None: as they are.

    Raises Refusal(CorruptPrompt), after the account of one that the filters refused was suspected (base-domain 8.3).
    """
    try:
        return await deps.moderation.rewritten(
            Screening(
                account_id=account.id,
                account_flagged=account.flagged,
                account_moderator=account.moderator,
                account_education=account.education,
                address=address.text,
                proxied=address.proxied,
                proxy_address=address.peer if address.proxied else "",
                proxy_owner=address.proxy_owner if address.proxied else "",
                proxied_account=prompt.proxied_account,
                prompt=prompt.whole,
                texts=prompt.texts,
                models=prompt.models,
                nsfw_model=deps.reference.current.any_nsfw(prompt.models),
                request_id=new_id,
            )
        )
    except Refusal as refused:
        deps.standings.forget(address.text)
        if refused.reason is reasons.CORRUPT_PROMPT and not account.moderator:
            # hanging up must not be a way to stay unsuspected
            await asyncio.shield(_suspect(account, deps))
        raise


async def _suspect(account: Account, deps: Deps) -> None:
    """At most once for an account, never the anonymous one. The refusal stands whatever becomes of it."""
    try:
        await repo.suspect(deps.store, account.id, _CORRUPT_PROMPT)
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not become the answer
        deps.events.not_suspected(account.id, error)
