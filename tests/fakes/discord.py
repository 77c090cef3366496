"""A Discord webhook on a real port of this process: it keeps what it is told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.fakes.http_server import serving


@dataclass
class Webhook:
    """`told` holds every posted body in order; `status` is what each post is answered with."""

    url: str = ""
    status: int = 204
    told: list[dict[str, Any]] = field(default_factory=list)


@asynccontextmanager
async def webhook() -> AsyncIterator[Webhook]:
    """Serves one while the block runs."""
    made = Webhook()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        assert (scope["method"], scope["path"]) == ("POST", "/api/webhooks/1/secret")
        made.told.append(orjson.loads(body))
        await send({"type": "http.response.start", "status": made.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async with serving(answer) as root:
        made.url = f"{root}/api/webhooks/1/secret"
        yield made
