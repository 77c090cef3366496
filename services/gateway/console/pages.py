"""The pages' addresses."""

import asyncio
from urllib.parse import urlsplit

from horde.failures import Outage
from services.gateway.answers import Answer
from services.gateway.console import figures, rendering
from services.gateway.deps import GatewayDeps
from services.gateway.endpoints import Exchange, Handler, Operation
from services.gateway.throttle import Budget


async def home(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The page at `/`: the place to chat, and how the horde is."""
    del ask
    shown = await _status(deps)
    models = () if shown is None else figures.chat_models(await deps.chat_models.get())
    return rendering.page("home.html", status=shown, models=models)


_TABS = (
    ("prompts", "Prompts"),
    ("promotions", "Promotions"),
    ("paused", "Paused workers"),
    ("suspicions", "Suspicions"),
    ("retention", "Retention"),
    ("access", "Access log"),
)
_REASONS = ("filter_rejection", "model_rejection", "worker_csam")


async def review(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The moderators' console: a frame without any data. What fills it asks the review API with the moderator's key."""
    del ask
    account = deps.settings.evidence_account
    origin = None if account is None else "{0.scheme}://{0.netloc}".format(urlsplit(account))
    return rendering.private_page("review.html", reads_from=origin, tabs=_TABS, reasons=_REASONS)


async def status(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The figures alone, which the page fetches again."""
    del ask
    return rendering.page("status.html", status=await _status(deps))


async def _status(deps: GatewayDeps) -> figures.Status | None:
    """None while a service is away: a person is shown the page all the same, and the figures when they are back."""
    try:
        performance, models, workers, flow, modes = await asyncio.gather(
            deps.performance.get(), deps.chat_models.get(), deps.workers.get(), deps.kudos_flow.get(), deps.modes.get()
        )
    except Outage as outage:
        deps.events.unavailable(outage, "/")
        return None
    return figures.status(performance, models, workers, flow, modes)


def _giving(answer: Answer) -> Handler:
    async def give(deps: GatewayDeps, ask: Exchange) -> Answer:
        del deps, ask
        return answer

    return give


OPERATIONS = (
    Operation("GET", "/", home),
    Operation("GET", "/console/status", status),
    *(Operation("GET", path, review) for path in ("/admin", "/admin/", "/admin/review")),
    *(Operation("GET", path, _giving(answer), Budget.UNLIMITED) for path, answer in rendering.static_files().items()),
)
