"""Instructor, in the three ways it asks for structure. Prints what it found as one line of JSON."""

import json
import os
from typing import Any

import instructor
import openai
from pydantic import BaseModel


class Weather(BaseModel):
    city: str
    degrees: int


def main() -> None:
    found: dict[str, Any] = {}
    with openai.OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["API_KEY"], max_retries=0) as client:
        for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON, instructor.Mode.JSON_SCHEMA):
            asking: Any = instructor.from_openai(client, mode=mode)
            answer = asking.chat.completions.create(
                model=os.environ["MODEL"],
                messages=[{"role": "user", "content": "Where?"}],
                response_model=Weather,
                max_retries=0,
            )
            found[mode.value] = answer.model_dump()
    print(json.dumps(found))


main()
