"""The pages' addresses."""

import asyncio

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
    *(Operation("GET", path, _giving(answer), Budget.UNLIMITED) for path, answer in rendering.static_files().items()),
)
