"""GET /health and /ready: whether this process lives, and whether it can serve. Contract: clients-and-front 3.1.

Load balancers of the public port ask them, without a key. The same answers stand under /v1, where some clients look.
"""

from starlette.types import Receive, Scope, Send

from services.gateway.answers import json_answer
from services.gateway.openai.front import Front

_ALIVE = json_answer({"status": "ok"})


async def health(front: Front, scope: Scope, receive: Receive, send: Send) -> None:
    """Always 200: whoever reads it was answered."""
    del front
    await _ALIVE(scope, receive, send)


async def ready(front: Front, scope: Scope, receive: Receive, send: Send) -> None:
    """200 when every service behind the native API serves, else 503 with the names of those that do not."""
    away = ["gateway"] if front.deps.stopping.is_set() else sorted(await front.failing.get())
    answer = {"status": "not ready", "away": away} if away else {"status": "ok"}
    await json_answer(answer, 503 if away else 200)(scope, receive, send)
