"""How the horde is: models, heartbeat, modes, performance."""

from starlette.exceptions import HTTPException

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.gateway.answers import Answer, json_answer
from services.gateway.deps import VERSION, GatewayDeps
from services.gateway.documents.operations import Key, described
from services.gateway.documents.schemas import FLAG, WHOLE, array, choice, ref
from services.gateway.endpoints import Exchange, Operation
from services.gateway.throttle import Budget
from services.gateway.wire import accounts, models, system

_NO_IMAGE_MODELS = Answer(b"[]")
_NO_NEWS = Answer(b"[]")
_MAX_MODES_BODY = 16 * 1024
"""Bytes; three flags."""


async def list_models(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The models that are served now; of images there are none."""
    query = models.read(ask.query())
    if query.kind == "image":
        return _NO_IMAGE_MODELS
    return models.answer(await (deps.chat_models if query.chat else deps.models).get(), query)


async def one_model(deps: GatewayDeps, ask: Exchange) -> Answer:
    """One model by its name."""
    name = ask.parameter("name")
    found = models.one(await deps.models.get(), name)
    if found is None:
        raise HTTPException(404, f"No model named '{name[:200]}' is served now.")
    return found


async def heartbeat(deps: GatewayDeps, ask: Exchange) -> Answer:
    """How this node is, from what it knows itself: a probe of it must not hang on another service."""
    del ask
    reachable = deps.neighbours.reachable()
    return json_answer(
        {
            "message": "OK" if reachable else "DOWN",
            "version": VERSION,
            "queue": 0,
            "threads": 1,
            "active_count": deps.load.active,
            "db_connection": reachable,
        }
    )


async def modes(deps: GatewayDeps, ask: Exchange) -> Answer:
    """The modes of the horde. A key is optional; one that is sent has to be a moderator's."""
    moderator = False
    if ask.caller.api_key is not None:
        account = await deps.neighbours.find_account(accounts.request(ask.caller.api_key))
        if account.deleted or not account.moderator:
            raise Refusal(reasons.NOT_MODERATOR, "Only a moderator may read this with a key. Leave the key out.")
        moderator = True
    return system.modes_answer(await deps.modes.get(), moderator=moderator)


async def set_modes(deps: GatewayDeps, ask: Exchange) -> Answer:
    """An administrator or a moderator switches modes. Whoever asks this gateway afterwards is told the new ones."""
    message = system.set_modes_request(await ask.object(_MAX_MODES_BODY), ask.caller)
    ask.api_key()
    changed = await deps.neighbours.operations.set_modes(message)
    deps.modes.forget()
    return system.set_modes_answer(changed)


async def news(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Nobody writes news here; clients that show them find none."""
    del deps, ask
    return _NO_NEWS


async def performance(deps: GatewayDeps, ask: Exchange) -> Answer:
    """Queue and workers together."""
    del ask
    return system.performance_answer(await deps.performance.get())


OPERATIONS = (
    Operation(
        "GET",
        "/v2/status/models",
        list_models,
        Budget.DEFAULT,
        described(
            "The models that are served now.",
            query={
                "type": choice("image", "text"),
                "chat": FLAG,
                "min_count": WHOLE,
                "max_count": WHOLE,
                "model_state": choice("known", "custom", "all"),
            },
            answers={200: array(ref("Model"))},
            refuses=[reasons.VALIDATION_FAILED],
        ),
    ),
    Operation(
        "GET",
        "/v2/status/models/{name:path}",
        one_model,
        Budget.DEFAULT,
        described("One model.", answers={200: array(ref("Model")), 404: ref("Error")}),
    ),
    Operation(
        "GET",
        "/v2/status/heartbeat",
        heartbeat,
        Budget.UNLIMITED,
        described("Whether this node lives.", answers={200: ref("Heartbeat")}),
    ),
    Operation(
        "GET",
        "/v2/status/modes",
        modes,
        Budget.MODES,
        described(
            "The modes of the horde.",
            key=Key.OPTIONAL,
            answers={200: ref("Modes")},
            refuses=[reasons.NOT_MODERATOR],
        ),
        private=True,
    ),
    Operation(
        "PUT",
        "/v2/status/modes",
        set_modes,
        Budget.MODES,
        described(
            "Switch the modes of the horde. Maintenance is an administrator's.",
            key=Key.REQUIRED,
            body="ModesChange",
            answers={200: ref("Modes")},
            refuses=[reasons.NOT_ADMIN, reasons.NOT_MODERATOR, reasons.NO_HORDE_MOD_SELECTED],
        ),
        private=True,
    ),
    Operation(
        "GET",
        "/v2/status/news",
        news,
        Budget.DEFAULT,
        described("News, of which there are none.", answers={200: array(ref("News"))}),
    ),
    Operation(
        "GET",
        "/v2/status/performance",
        performance,
        Budget.DEFAULT,
        described("What is queued, and who works on it.", answers={200: ref("Performance")}),
    ),
)
