"""The OpenAI Agents SDK on chat completions: a tool, a handover of types, a stream. Prints one line of JSON."""

import asyncio
import json
import os
from typing import Any

import openai
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


@function_tool  # type: ignore[untyped-decorator]  # the SDK is not in the environment that is type-checked
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Sunny in {city}"


async def main() -> None:
    set_tracing_disabled(disabled=True)
    client = openai.AsyncOpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0)
    model = OpenAIChatCompletionsModel(model=os.environ["MODEL"], openai_client=client)
    plain: Any = Agent(name="plain", instructions="Be kind.", model=model)
    tooled: Any = Agent(name="tooled", model=model, tools=[weather])
    typed: Any = Agent(name="typed", model=model, output_type=Weather)
    streamed = Runner.run_streamed(plain, "Hi")
    pieces = [
        event.data.delta
        async for event in streamed.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    found = {
        "run": (await Runner.run(plain, "Hello")).final_output,
        "stream": "".join(pieces),
        "tool": (await Runner.run(tooled, "Use the tool.")).final_output,
        "typed": (await Runner.run(typed, "Where?")).final_output.model_dump(),
    }
    await client.close()
    print(json.dumps(found))


asyncio.run(main())
