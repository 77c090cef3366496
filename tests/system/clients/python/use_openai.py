"""The `openai` SDK, as its manual uses it. Prints what it found as one line of JSON."""

import json
import os
from typing import Any

import httpx
import openai
from pydantic import BaseModel

MODEL = os.environ["MODEL"]
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


def said(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def conversation(client: openai.OpenAI) -> dict[str, Any]:
    chat = client.chat.completions
    raw = chat.with_raw_response.create(model=MODEL, messages=said("Hello"))
    whole = raw.parse()
    chunks = list(chat.create(model=MODEL, messages=said("Hi"), stream=True, stream_options={"include_usage": True}))
    with chat.stream(model=MODEL, messages=said("Hey")) as stream:
        events = [event.type for event in stream]
        final = stream.get_final_completion()
    message: Any = whole.choices[0].message
    return {
        "create": message.content,
        "reasoning": message.reasoning_content,
        "finish": whole.choices[0].finish_reason,
        "usage": whole.usage.total_tokens if whole.usage else None,
        "request_id": raw.headers["x-request-id"] == whole._request_id,
        "fingerprints": len({whole.system_fingerprint, *(chunk.system_fingerprint for chunk in chunks)}),
        "streamed": "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices),
        "streamed_usage": chunks[-1].usage is not None,
        "events": sorted(set(events)),
        "final": final.choices[0].message.content,
    }


def structured(client: openai.OpenAI) -> dict[str, Any]:
    chat = client.chat.completions
    parsed = chat.parse(model=MODEL, messages=said("Where?"), response_format=Weather)
    history = said("Use the tool.")
    asked = chat.parse(model=MODEL, messages=history, tools=[openai.pydantic_function_tool(Weather)])
    call = (asked.choices[0].message.tool_calls or [])[0]
    history += [asked.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "Sunny"}]
    told = chat.create(model=MODEL, messages=history, tools=[TOOL])
    named: Any = {"type": "function", "function": {"name": "weather"}}
    forced = chat.create(model=MODEL, messages=said("Now"), tools=[TOOL], tool_choice=named)
    with chat.stream(model=MODEL, messages=said("Use the tool."), tools=[TOOL], tool_choice="required") as stream:
        for _ in stream:
            pass
        streamed = stream.get_final_completion().choices[0]
    answered = chat.create(model=MODEL, messages=said("Give me json"), response_format={"type": "json_object"})
    return {
        "parse": parsed.choices[0].message.parsed.model_dump() if parsed.choices[0].message.parsed else None,
        "tool": [call.function.name, call.function.parsed_arguments.__class__.__name__],
        "tool_finish": asked.choices[0].finish_reason,
        "after_tool": told.choices[0].message.content,
        "forced": [forced.choices[0].finish_reason, (forced.choices[0].message.tool_calls or [])[0].type],
        "streamed_tool": [call.function.arguments for call in streamed.message.tool_calls or []],
        "json_object": json.loads(answered.choices[0].message.content or ""),
    }


def refused(client: openai.OpenAI) -> dict[str, Any]:
    found: dict[str, Any] = {}
    chat = client.chat.completions
    with openai.OpenAI(base_url=client.base_url, api_key="not-anybodys-key-00000") as stranger:
        calls: dict[str, Any] = {
            "unknown_model": lambda: chat.create(model="no/Such", messages=said("x")),
            "few_tokens": lambda: chat.create(model=MODEL, messages=said("x"), max_tokens=5),
            "two_choices": lambda: chat.create(model=MODEL, messages=said("x"), n=2),
            "wrong_key": lambda: stranger.chat.completions.create(model=MODEL, messages=said("x")),
        }
        for name, call in calls.items():
            try:
                call()
            except openai.APIStatusError as error:
                found[name] = [type(error).__name__, error.code, error.param]
    return found


class BreaksOnce(httpx.HTTPTransport):
    """A network that loses the first connection while its answer is waited for."""

    has_broken = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not self.has_broken:
            self.has_broken = True
            request.extensions["timeout"] = {**request.extensions["timeout"], "read": 1.0}
        return super().handle_request(request)


def repeated() -> str | None:
    """The SDK repeats the call by itself, and is given the request of its first try."""
    network: Any = httpx.Client(transport=BreaksOnce(), timeout=600)
    with openai.OpenAI(base_url=os.environ["BASE_URL"], http_client=network, max_retries=2) as client:
        answer = client.chat.completions.create(model=MODEL, messages=said("Answer slowly, please."))
    return answer.choices[0].message.content


def main() -> None:
    with openai.OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0) as client:
        found = {
            **conversation(client),
            **structured(client),
            "refused": refused(client),
            "repeated": repeated(),
            "models": [model.id for model in client.models.list()],
            "model": client.models.retrieve(MODEL).owned_by,
        }
    print(json.dumps(found))


main()
