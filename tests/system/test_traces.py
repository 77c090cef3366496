"""With an OTLP endpoint set, every call is one trace from the HTTP edge to SQL, Redis and S3, and names its ids."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.fakes.collector import Collector, Told, collecting
from tests.fakes.pictures import data_url, picture
from tests.system.services import Services

MODEL = "test/Trace-7B"
PROMPT, REPLY = "a secret sentence", "another secret sentence"


@dataclass
class Story:
    """One chat from its submit to its status; each call had a trace of its own, whose ids these are."""

    collector: Collector
    keys: tuple[str, str]
    request: str
    generation: str
    submit: str
    pop: str
    post: str
    reply: str
    status: str

    def trace(self, trace_id: str, *names: str) -> list[Told]:
        return self.collector.whole(trace_id, *names)


@pytest.fixture(scope="module")
def story(new_services: Callable[..., Services]) -> Iterator[Story]:
    with collecting() as (collector, endpoint):
        services = new_services(
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_BSP_SCHEDULE_DELAY="200", OTEL_EXPORTER_OTLP_INSECURE="true"
        )
        yield _told(services, collector)


def _told(services: Services, collector: Collector) -> Story:
    owner, client = services.account("trace_owner"), services.account("trace_client")
    traces: list[str] = []
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30) as http:

        def call(path: str, key: str, body: Any = None) -> Any:
            traces.append(secrets.token_hex(16))
            given = {"apikey": key, "traceparent": f"00-{traces[-1]}-00000000000000ab-01"}
            answer = http.request("GET" if body is None else "POST", path, json=body, headers=given)
            return answer.raise_for_status().json()

        pop = {
            "name": "trace worker",
            "models": [MODEL],
            "chat_jobs": True,
            "model_id": MODEL,
            "chat_limits": {"max_context_length": 4096, "max_length": 512},
            "chat_features": ["prompt_overflow_refused", "vision"],
            "image_transports": ["base64"],
        }
        call("/generate/text/pop", owner.api_key, pop)
        parts = [
            {"type": "text", "text": PROMPT},
            {"type": "image_url", "image_url": {"url": data_url(picture((9, 9)))}},
        ]
        body = {"model": MODEL, "messages": [{"role": "user", "content": parts}], "stream": True}
        request = call("/generate/chat/async", client.api_key, body)["id"]
        job = call("/generate/text/pop", owner.api_key, pop)["id"]
        call("/generate/text/progress", owner.api_key, {"id": job, "seq": 1, "delta": {"content": REPLY}})
        reply = {"model_id": MODEL, "message": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
        call("/generate/text/submit", owner.api_key, {"id": job, **reply})
        call(f"/generate/chat/status/{request}", client.api_key)
    keys = (owner.api_key, client.api_key)
    return Story(collector, keys, request, job, *traces[1:])


def named(spans: list[Told], name: str) -> Told:
    """The one span of this name."""
    (found,) = [told for told in spans if told.name == name]
    return found


def test_a_submit_is_one_trace_from_the_callers_own_span_to_sql_and_s3(story: Story) -> None:
    spans = story.trace(story.submit, "HTTP POST", "admission.AdmitChat", "s3 PutObject", "admission.activate")
    services = {told.service.removeprefix("horde-") for told in spans}
    assert {"gateway", "admission", "media"} <= services
    edge = named(spans, "HTTP POST")
    assert edge.span.parent_span_id.hex() == "00000000000000ab"
    assert edge.attributes["http.route"].endswith("/generate/chat/async")
    assert named(spans, "admission.AdmitChat").attributes["horde.request_id"] == story.request
    assert named(spans, "admission.activate").attributes["db.system.name"] == "postgresql"
    (stored,) = [told for told in spans if told.name == "s3 PutObject"]
    around = next(told for told in spans if told.span.span_id == stored.span.parent_span_id)
    assert (around.service, around.attributes["horde.request_id"]) == ("horde-media", story.request)


def test_a_pop_is_one_trace_to_redis_and_names_request_and_generation(story: Story) -> None:
    spans = story.trace(story.pop, "dispatch.ClaimJobs", "redis script open_lease", "s3 GetObject")
    claim, lease = named(spans, "dispatch.ClaimJobs"), named(spans, "redis script open_lease")
    assert claim.attributes["horde.request_id"] == story.request
    assert claim.attributes["horde.generation_ids"] == [story.generation]
    assert (lease.service, lease.attributes["db.system.name"]) == ("horde-progress", "redis")


def test_a_post_of_progress_is_one_trace_to_redis_and_names_its_generation(story: Story) -> None:
    spans = story.trace(story.post, "redis script append_progress")
    around = named(spans, "progress.AppendProgress")
    assert around.attributes["horde.generation_id"] == story.generation
    # The first post ever finds that Redis does not know the script yet, and asks again.
    moves = [told for told in spans if told.name == "redis script append_progress"]
    assert {told.span.parent_span_id for told in moves} == {around.span.span_id}
    assert moves[-1].attributes == {"db.system.name": "redis"}


def test_a_submitted_reply_is_one_trace_to_sql_and_names_request_and_generation(story: Story) -> None:
    spans = story.trace(story.reply, "dispatch.SubmitResult", "dispatch.store_result")
    submitted = named(spans, "dispatch.SubmitResult")
    assert submitted.attributes["horde.request_id"] == story.request
    assert submitted.attributes["horde.generation_id"] == story.generation


def test_a_status_names_its_request(story: Story) -> None:
    spans = story.trace(story.status, "dispatch.GetStatus")
    assert named(spans, "dispatch.GetStatus").attributes["horde.request_id"] == story.request


def test_no_span_holds_a_word_of_prompt_or_reply_or_a_key(story: Story) -> None:
    for trace in (story.submit, story.pop, story.post, story.reply, story.status):
        story.trace(trace, *())
    told = b"".join(story.collector.raw)
    assert [word for word in (PROMPT, REPLY, *story.keys) if word.encode() in told] == []
