"""Pydantic AI: an agent with a tool and a structured result. Prints what it found as one line of JSON."""

import asyncio
import json
import os

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


class Weather(BaseModel):
    city: str
    degrees: int


def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Sunny in {city}"


async def main() -> None:
    provider = OpenAIProvider(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"])
    model = OpenAIChatModel(os.environ["MODEL"], provider=provider)
    plain: Agent[None, str] = Agent(model)
    structured: Agent[None, Weather] = Agent(model, output_type=Weather, tools=[weather])
    tooled: Agent[None, str] = Agent(model, tools=[weather])
    async with plain.run_stream("Hi") as streamed:
        pieces = [piece async for piece in streamed.stream_text(delta=True)]
    found = {
        "run": (await plain.run("Hello")).output,
        "stream": "".join(pieces),
        "structured": (await structured.run("Where?")).output.model_dump(),
        "tool": (await tooled.run("Use the tool.")).output,
    }
    print(json.dumps(found))


asyncio.run(main())
