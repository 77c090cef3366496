"""LiteLLM's SDK, under the two names users give an OpenAI-compatible server. Prints one line of JSON."""

import json
import os
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def ask(provider: str, text: str, **more: Any) -> Any:
    return litellm.completion(
        model=f"{provider}/{os.environ['MODEL']}",
        messages=[{"role": "user", "content": text}],
        base_url=os.environ["BASE_URL"],
        api_key=os.environ["API_KEY"],
        num_retries=0,
        **more,
    )


def main() -> None:
    litellm.telemetry = False
    found: dict[str, Any] = {}
    for provider in ("openai", "hosted_vllm"):
        whole = ask(provider, "Hello")
        chunks = list(ask(provider, "Hi", stream=True))
        calling = ask(provider, "Use the tool.", tools=[TOOL], tool_choice="required")
        found[provider] = {
            "create": whole.choices[0].message.content,
            "usage": whole.usage.total_tokens,
            "stream": "".join(chunk.choices[0].delta.content or "" for chunk in chunks),
            "tool": calling.choices[0].message.tool_calls[0].function.name,
            "finish": calling.choices[0].finish_reason,
        }
    try:
        ask("openai", "x", max_tokens=5)
    except litellm.BadRequestError as error:
        found["refused"] = "integer below minimum" in str(error)
    print(json.dumps(found))


main()
