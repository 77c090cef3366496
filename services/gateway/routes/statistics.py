"""What the horde has made, by period. base-domain 9."""

from services.gateway.answers import Answer
from services.gateway.deps import GatewayDeps
from services.gateway.documents.operations import described
from services.gateway.documents.schemas import ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import system


async def text_totals(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Requests and tokens by period."""
    del ask
    return system.text_totals_answer(await deps.text_statistics.get())


async def text_models(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Requests by period and model."""
    del ask
    return system.text_models_answer(await deps.text_statistics.get())


OPERATIONS = (
    Operation(
        "GET",
        "/v2/stats/text/totals",
        text_totals,
        Budget.DEFAULT,
        described("Replies and their tokens, by period.", answers={200: ref("TextTotals")}),
    ),
    Operation(
        "GET",
        "/v2/stats/text/models",
        text_models,
        Budget.DEFAULT,
        described("Replies of each model, by period.", answers={200: ref("TextModelTotals")}),
    ),
)
