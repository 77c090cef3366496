"""An image in a request is normalised, stored, and handed to a worker that sees, by a link that needs no key."""

import io

import httpx
import openai
from PIL import Image

from horde.contract.vocabulary import chat_declaration, chat_policy
from tests.fakes.pictures import data_url, picture
from tests.system.services import Services
from tests.system.volunteer import Job, Volunteer

MODEL = "test/Seeing-7B"


def test_a_data_url_reaches_the_worker_as_a_signed_link_to_a_jpeg(services: Services) -> None:
    owner = services.account("image_owner")
    seen: list[Image.Image] = []

    def look(job: Job) -> str:
        url = next(part["image_url"]["url"] for part in job.messages[0]["content"] if part["type"] == "image_url")
        answer = httpx.get(url, timeout=10)
        answer.raise_for_status()
        seen.append(Image.open(io.BytesIO(answer.content)))
        return f"It is {seen[-1].width} pixels wide."

    with (
        Volunteer(
            services.url,
            owner.api_key,
            name="seeing volunteer",
            model=MODEL,
            features=frozenset({chat_policy.ChatFeature.VISION}),
            transports=frozenset({chat_declaration.ChatImageTransport.URL}),
            reply=look,
        ),
        openai.OpenAI(base_url=f"{services.url}/v1", api_key="0000000000", max_retries=0, timeout=60) as client,
    ):
        wide = data_url(picture((2500, 40), kind="PNG"))
        completion = client.chat.completions.create(
            model=MODEL,
            messages=[
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "How wide is this?"},
                        {"type": "image_url", "image_url": {"url": wide}},
                    ],
                }
            ],
        )
    assert completion.choices[0].message.content == "It is 2048 pixels wide."
    assert seen[0].format == "JPEG"
