"""What the webhook of a text request is told of a stored reply. base-domain 3.12."""

import orjson

from services.dispatch.rules.status import shown_state
from services.dispatch.rules.submission import Reply, Target


def told(target: Target, reply: Reply, reward: int) -> bytes:
    """The generation as its status shows it, with its id, its request's, and what it earned. `reward`: hundredths."""
    return orjson.dumps(
        {
            "id": str(target.id),
            "request": str(target.request_id),
            "kudos": reward / 100,
            "worker_id": str(target.worker_id),
            "worker_name": target.worker_name,
            "model": target.model,
            "state": shown_state(censored=reply.censored, gen_metadata=reply.gen_metadata),
            "text": reply.text,
            "seed": reply.seed,
            "gen_metadata": reply.gen_metadata or [],
        }
    )
