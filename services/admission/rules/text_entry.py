"""Who may submit a text request, and what only a text submit has to be refused for. base-domain 3.4."""

from datetime import datetime

from horde.contract import limits, reasons
from horde.contract.refusal import Refusal
from horde.contract.text import TextRequest
from services.admission.rules.facts import Account, SharedKey


def refuse_style(request: TextRequest) -> None:
    """This system has no styles: a request for one finds none."""
    if request.style is not None:
        raise Refusal(reasons.STYLE_NOT_FOUND, f"There is no style '{request.style[:100]}'.")
    if request.has_template_fields:
        raise Refusal(reasons.BAD_REQUEST, "template_fields: they are only taken together with a style.")


def refuse_webhook(request: TextRequest) -> None:
    """A webhook is told what was generated, so nobody on the way may read it."""
    if request.webhook is not None and not request.webhook.startswith("https://"):
        raise Refusal(reasons.BAD_REQUEST, "webhook: its URL has to begin with https://.")


def falls_back(request: TextRequest, key: SharedKey | None, now: datetime) -> bool:
    """Whether an empty shared key may run as the anonymous account, behind everybody else. base-domain 2.4."""
    return request.allow_downgrade and key is not None and key.kudos == 0 and (key.expiry is None or key.expiry > now)


def refuse_proxied_account(request: TextRequest, account: Account) -> None:
    """Only a service speaks for accounts of its own."""
    if request.proxied_account is not None and not account.service:
        raise Refusal(reasons.ONLY_SERVICE_ACCOUNT_PROXY, "proxied_account: only service accounts may send it.")


def refuse_many_images(request: TextRequest, account: Account) -> None:
    """The number of extra source images, before it is known that a text request takes none at all."""
    if request.extra_source_images > limits.MAX_EXTRA_SOURCE_IMAGES:
        raise Refusal(
            reasons.TOO_MANY_EXTRA_SOURCE_IMAGES,
            f"extra_source_images: at most {limits.MAX_EXTRA_SOURCE_IMAGES} are taken.",
        )
    if request.extra_source_images > 1 and not account.trusted:
        raise Refusal(
            reasons.MORE_THAN_MIN_EXTRA_SOURCE_IMAGE, "extra_source_images: only trusted accounts may send several."
        )


def refuse_images(request: TextRequest) -> None:
    """A text request takes no images."""
    if request.extra_source_images:
        raise Refusal(reasons.INVALID_EXTRA_SOURCE_IMAGES, "extra_source_images: a text request takes no images.")


def refuse_empty_prompt(request: TextRequest) -> None:
    """There has to be something to go on from."""
    if not request.prompt:
        raise Refusal(reasons.MISSING_PROMPT, "prompt: it is empty, and a text request needs one.")


def refuse_unbatched(request: TextRequest, account: Account) -> None:
    """Several generations that nobody may generate together."""
    if request.jobs > 1 and request.disable_batching and not account.trusted:
        raise Refusal(
            reasons.REQUIRES_TRUST, "disable_batching: only trusted accounts may send it with params.n above 1."
        )
