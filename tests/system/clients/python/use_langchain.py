"""LangChain's ChatOpenAI. Prints what it found as one line of JSON."""

import json
import os
from typing import Any

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field


class Weather(BaseModel):
    """The weather of a city."""

    city: str = Field(description="Which city.")
    degrees: int


@tool  # type: ignore[untyped-decorator]  # LangChain is not in the environment that is type-checked
def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"Sunny in {city}"


def main() -> None:
    model: Any = ChatOpenAI(
        base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], model=os.environ["MODEL"], max_retries=0
    )
    whole = model.invoke("Hello")
    pieces = list(model.stream("Hi", stream_usage=True))
    history: list[Any] = [HumanMessage("Use the tool.")]
    calling = model.bind_tools([weather], tool_choice="any").invoke(history)
    call = calling.tool_calls[0]
    history += [calling, ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])]
    found = {
        "invoke": whole.content,
        "usage": whole.usage_metadata["total_tokens"],
        "finish": whole.response_metadata["finish_reason"],
        "stream": "".join(piece.content for piece in pieces),
        "stream_usage": any(piece.usage_metadata for piece in pieces),
        "tool": [call["name"], call["args"]],
        "after_tool": model.bind_tools([weather]).invoke(history).content,
        "json_schema": model.with_structured_output(Weather, method="json_schema", strict=True)
        .invoke("Where?")
        .model_dump(),
        "function_calling": model.with_structured_output(Weather, method="function_calling")
        .invoke("Where?")
        .model_dump(),
    }
    print(json.dumps(found))


main()
