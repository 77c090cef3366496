"""What becomes of a text request's prompt in AdmitText: fitted into a context, screened."""

from datetime import timedelta
from uuid import UUID

from horde.contract.text import TextRequest
from services.admission import durations, repo
from services.admission.deps import Deps
from services.admission.handlers import judging
from services.admission.handlers.judging import Prompt
from services.admission.rules import text_fit
from services.admission.rules.address import Address
from services.admission.rules.facts import Account
from services.admission.rules.sizing import DoesNotFit
from services.admission.rules.text_fit import Fitted


async def fit(request: TextRequest, deps: Deps) -> Fitted:
    """The request's lengths. Workers are asked for only when it has to grow. Raises PromptExceedsContext."""
    widest = None
    if text_fit.needs_growth(request):
        online = timedelta(seconds=deps.settings.worker_online_seconds)
        widest = await repo.widest_context(deps.store, request.models, online=online)
    try:
        fitted = text_fit.fit(request, widest)
    except DoesNotFit as refused:
        deps.events.did_not_fit(mode=refused.mode)
        raise
    deps.events.text_fitted(fitted)
    return fitted


@durations.prompt_filter
async def screen(request: TextRequest, account: Account, address: Address, new_id: UUID, deps: Deps) -> str:
    """The prompt as moderation lets it through; asked only when the snapshot cannot clear it (decision 15)."""
    if not judging.has_to_be_judged(request.models, account, deps):
        return request.prompt
    prompt = Prompt(
        whole=request.prompt,
        texts=[request.prompt],
        models=request.models,
        proxied_account=request.proxied_account or "",
    )
    rewritten = await judging.judged(prompt, account, address, new_id, deps)
    return request.prompt if rewritten is None else rewritten[0]
