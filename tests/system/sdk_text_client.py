"""horde-sdk's simple client, unmodified, in a process of its own: importing it takes seconds. Prints what it got.

Arguments: the API key, the model. `AI_HORDE_URL` says where.
"""

import json
import sys

from horde_sdk.ai_horde_api.ai_horde_clients import AIHordeAPISimpleClient
from horde_sdk.ai_horde_api.apimodels import ModelGenerationInputKobold, TextGenerateAsyncRequest


def main(api_key: str, model: str) -> None:
    """A dry run, then the request itself."""
    client = AIHordeAPISimpleClient()
    facts = {
        "apikey": api_key,
        "prompt": "Once upon a time",
        "params": ModelGenerationInputKobold(max_length=80, max_context_length=1024, temperature=0.7),
        "models": [model],
    }
    quote = client.text_generate_request_dry_run(TextGenerateAsyncRequest(**facts, dry_run=True))
    status, request_id = client.text_generate_request(TextGenerateAsyncRequest(**facts), timeout=60)
    told = {
        "kudos": quote.kudos,
        "id": str(request_id),
        "done": status.done,
        "text": status.generations[0].text,
        "model": status.generations[0].model,
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
