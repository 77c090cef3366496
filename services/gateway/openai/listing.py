"""GET /v1/models and /v1/models/{id}: what an online chat worker serves now."""

from starlette.types import Receive, Scope, Send

from horde.contract.api_keys import ANONYMOUS_KEY
from services.gateway.answers import json_answer
from services.gateway.openai import wire
from services.gateway.openai.callers import front_caller
from services.gateway.openai.errors import INVALID, REPEATABLE, FrontError
from services.gateway.openai.front import Front
from services.gateway.throttle import Budget


async def list_models(front: Front, scope: Scope, receive: Receive, send: Send) -> None:
    """All of them."""
    await _let_in(front, scope, "/v1/models")
    listed = {"object": "list", "data": wire.cards(await front.deps.chat_models.get())}
    await json_answer(listed)(scope, receive, send)


async def one_model(front: Front, scope: Scope, receive: Receive, send: Send) -> None:
    """One by its id, which may hold slashes. Raises FrontError(model_not_found)."""
    await _let_in(front, scope, "/v1/models/{id}")
    name = scope["path_params"]["id"]
    for card in wire.cards(await front.deps.chat_models.get()):
        if card["id"] == name:
            await json_answer(card)(scope, receive, send)
            return
    raise FrontError(
        404, INVALID, "model_not_found", f"No online worker serves the model '{name[:200]}'.", param="model"
    )


async def _let_in(front: Front, scope: Scope, route: str) -> None:
    """Clients list models before anything else, many without a key; but a wrong one is told at once."""
    scope[REPEATABLE] = True
    caller = front_caller(scope, front.deps.settings.proxy_trusted_hops).caller
    await front.throttle(scope, caller, Budget.DEFAULT, route)
    if caller.api_key is not None and caller.api_key != ANONYMOUS_KEY:
        await front.deps.neighbours.accounts.get_account(wire.account_request(caller.api_key))
