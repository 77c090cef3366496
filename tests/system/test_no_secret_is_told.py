"""Whatever the system does and however it fails, no log, trace or metric tells a key, a prompt, a reply or an image."""

import asyncio
import base64
import re
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx
import openai
import pytest

from horde.cli.admin import create_account
from horde.cli.stack.environment import SERVICES
from horde.contract.vocabulary import chat_declaration, chat_policy
from tests.fakes.collector import Collector, collecting
from tests.fakes.pictures import data_url, noise
from tests.servers import PASSWORD, Servers
from tests.system.services import SECRET, Services
from tests.system.volunteer import Volunteer

MODEL = "test/Secretive-7B"
ADDRESS = "198.51.100.77"
_SOON = 60.0


@dataclass
class Run:
    """A running system, and everything that was said to it and by it and must not be told on."""

    services: Services
    http: httpx.Client
    hidden: dict[str, str] = field(default_factory=dict)

    def hide(self, what: str, value: str) -> str:
        """Remembers a value that must not show up."""
        self.hidden[what] = value
        return value

    def words(self, what: str) -> str:
        """New words of a user."""
        return self.hide(what, f"canary-{secrets.token_hex(8)}")

    def account(self, name: str, **given: Any) -> dict[str, str]:
        """The header of a new account's key."""
        given = {"kudos": 100_000, "concurrency": 500, **given}
        made = asyncio.run(create_account(self.services.database_url, SECRET, name, **given))
        return {"apikey": self.hide(f"key of {name}", made.api_key), "X-Forwarded-For": ADDRESS}

    def ask(self, key: dict[str, str], *parts: Any, **more: Any) -> httpx.Response:
        """A chat submit."""
        body = {"model": MODEL, "messages": [{"role": "user", "content": list(parts)}], **more}
        return self.http.post("/generate/chat/async", json=body, headers=key)

    def until_done(self, queued: str) -> None:
        """Its client asks for the status until there is a reply."""
        until(lambda: self.http.get(f"/generate/chat/status/{queued}").json()["done"])

    def on_database(self, statement: str) -> None:
        """As its owner."""

        async def run() -> None:
            connection = await asyncpg.connect(self.services.database_url)
            try:
                await connection.execute(statement)
            finally:
                await connection.close()

        asyncio.run(run())


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def until(what: Callable[[], Any]) -> Any:
    """What it gives, once it is true."""
    end = time.monotonic() + _SOON
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def hide_signature(run: Run, what: str, link: str) -> None:
    run.hide(f"signature of {what}", parse_qs(urlsplit(link).query)["X-Amz-Signature"][0])


def _work(run: Run) -> None:
    """Chat natively and through the front, a stream, a text, an image, a shared key, a passkey."""
    client, owner = run.account("client", trusted=True), run.account("owner", trusted=True)
    asked = {"/v1": run.words("prompt of the front"), "chat": run.words("prompt of a chat")}
    picture = noise(400, kind="JPEG")
    shown = data_url(picture, "image/jpeg")
    run.hide("image as it was sent", shown[2000:2060])
    links: list[str] = []

    def reply(job: Any) -> str:
        links.extend(
            part["image_url"]["url"]
            for message in job.messages
            if not isinstance(message["content"], str)
            for part in message["content"]
            if part["type"] == "image_url"
        )
        return run.words(f"reply to job {len(run.hidden)}") + " and more"

    with Volunteer(
        run.services.url,
        owner["apikey"],
        name="secretive",
        model=MODEL,
        features=frozenset({chat_policy.ChatFeature.VISION}),
        transports=frozenset({chat_declaration.ChatImageTransport.URL}),
        reply=reply,
    ):
        with openai.OpenAI(base_url=f"{run.services.url}/v1", api_key=client["apikey"], max_retries=0) as front:
            streamed = front.chat.completions.create(
                model=MODEL, stream=True, messages=[{"role": "user", "content": asked["/v1"]}]
            )
            assert any("canary" in (chunk.choices[0].delta.content or "") for chunk in streamed if chunk.choices)
        shared = run.http.put("/sharedkeys", json={"name": "friends", "kudos": 500}, headers=client).json()["id"]
        by_shared_key = {"apikey": run.hide("shared key", shared)}
        for key in (client, by_shared_key):
            queued = run.ask(key, text(asked["chat"]), image(shown)).raise_for_status().json()["id"]
            run.until_done(queued)
    for link in links:
        hide_signature(run, "an image's link", link)
    assert links
    _text(run, owner)
    service = run.account("service", service=True)
    mine = run.http.get("/find_user", headers=service).json()["id"]
    made = run.http.put(f"/users/{mine}", json={"generate_proxy_passkey": True}, headers=service)
    passkey = run.hide("passkey", made.json()["proxy_passkey"])
    run.http.get("/status/heartbeat", headers={"Proxy-Authorization": passkey, "Proxied-For": ADDRESS})


def _text(run: Run, owner: dict[str, str]) -> None:
    prompt = run.words("prompt of a text")
    pop = {"name": "a text worker", "models": ["text/T"], "max_length": 512, "max_context_length": 4096}
    run.http.post("/generate/text/pop", json=pop, headers=owner).raise_for_status()
    webhook = f"https://localhost/{run.words('path of a webhook')}?token={run.words('token of a webhook')}"
    asked = {"prompt": prompt, "models": ["text/T"], "webhook": webhook}
    run.http.post("/generate/text/async", json=asked, headers=owner).raise_for_status()
    job = run.http.post("/generate/text/pop", json=pop, headers=owner).json()["id"]
    reply = {"id": job, "generation": run.words("reply of a text"), "state": "ok"}
    run.http.post("/generate/text/submit", json=reply, headers=owner).raise_for_status()
    until(lambda: "webhook not called" in run.services.log("dispatch"))


def _moderate(run: Run) -> None:
    """A prompt is refused by filters; its words reach the evidence bucket, and a moderator is given a link to them."""
    moderator, client = run.account("moderator", moderator=True), run.account("naughty")
    for kind, word in ((10, "badword"), (20, "worse")):
        run.http.put("/filters", json={"regex": word, "filter_type": kind}, headers=moderator).raise_for_status()
    words = run.words("a refused prompt")
    until(lambda: run.ask(client, text(f"badword worse {words}")).status_code == 400)

    def link() -> str | None:
        listed = run.http.get("/operations/moderation/prompts", headers=moderator).raise_for_status().json()
        return next((event["text_url"] for event in listed["events"] if event.get("text_url")), None)

    found = until(link)
    assert words in httpx.get(found, timeout=10).text
    hide_signature(run, "a link to evidence", found)
    note = {"note": run.words("a moderator's note")}
    event = run.http.get("/operations/moderation/prompts", headers=moderator).json()["events"][0]["id"]
    run.http.post(f"/operations/moderation/prompts/{event}/notes", json=note, headers=moderator).raise_for_status()


def _refuse(run: Run) -> None:
    """Wrong keys, bodies that are no JSON, values that are refused."""
    for name in ("apikey", "Authorization"):
        wrong = run.words(f"wrong key in {name}")
        run.http.post("/generate/chat/async", json={}, headers={name: f"Bearer {wrong}" if "A" in name else wrong})
    openai_like = run.words("wrong key of the front")
    httpx.post(f"{run.services.url}/v1/chat/completions", json={}, headers={"Authorization": f"Bearer {openai_like}"})
    key = run.account("mistaken")
    broken = f'{{"messages": [{{"role": "user", "content": "{run.words("broken body")}" '
    given = {**key, "Content-Type": "application/json"}
    assert run.http.post("/generate/chat/async", content=broken, headers=given).status_code == 400
    assert run.ask(key, text("hi"), **{run.words("unknown key"): run.words("unknown value")}).status_code == 400
    assert run.ask(key, text("hi"), response_format={"type": run.words("unknown format")}).status_code == 400
    no_image = base64.b64encode(run.words("no image").encode()).decode()
    unreadable = data_url(b"") + run.hide("no image, encoded", no_image)
    assert run.ask(key, text("hi"), image(unreadable)).status_code == 400
    elsewhere = f"http://127.0.0.1:1/{run.words('path of an image')}?token=x"
    assert run.ask(key, text("hi"), image(elsewhere)).status_code == 400


def _fail(run: Run) -> None:
    """Bugs: Postgres refuses rows by a rule that nobody knows, and its error quotes them."""
    key, owner = run.account("unlucky"), run.account("unlucky_owner", trusted=True)
    run.on_database(
        "ALTER TABLE dispatch.waiting_prompts ADD CONSTRAINT nobody_knows"
        " CHECK (prompt NOT LIKE '%unlucky%') NOT VALID;"
        "ALTER TABLE dispatch.processing_gens ADD CONSTRAINT nobody_knew"
        " CHECK (message::text NOT LIKE '%unlucky%') NOT VALID"
    )
    assert run.ask(key, text(f"unlucky {run.words('prompt in a fault')}")).status_code == 500
    queued = run.ask(key, text(run.words("prompt of a faulted reply"))).raise_for_status().json()["id"]
    assert queued
    pop = {
        "name": "unlucky worker",
        "models": [MODEL],
        "chat_jobs": True,
        "model_id": MODEL,
        "chat_limits": {"max_context_length": 4096, "max_length": 512},
        "chat_features": ["prompt_overflow_refused"],
    }
    job = until(lambda: run.http.post("/generate/text/pop", json=pop, headers=owner).json()["id"])
    message = {"role": "assistant", "content": f"unlucky {run.words('reply in a fault')}"}
    reply = {"id": job, "model_id": MODEL, "message": message, "finish_reason": "stop"}
    assert run.http.post("/generate/text/submit", json=reply, headers=owner).status_code == 500
    given_up = {"id": job, "model_id": MODEL, "fault_reason": "generation_error"}
    run.http.post("/generate/text/submit", json=given_up, headers=owner)


@pytest.fixture(scope="module")
def ran(new_services: Callable[..., Services], servers: Servers) -> Iterator[tuple[Run, Collector]]:
    """A system whose every service logs at debug and exports every span, after the full run."""
    s3 = servers.object_store()
    with collecting() as (collector, endpoint):
        services = new_services(
            OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
            OTEL_EXPORTER_OTLP_INSECURE="true",
            OTEL_BSP_SCHEDULE_DELAY="200",
            HORDE_LOG_LEVEL="debug",
            HORDE_CLEANUP_INTERVAL_SECONDS="1",
            HORDE_MODERATION_UPLOAD_INTERVAL_SECONDS="0.2",
            R2_EVIDENCE_ACCOUNT=s3.endpoint,
            R2_EVIDENCE_BUCKET=s3.bucket("evidence"),
            EVIDENCE_AWS_ACCESS_KEY_ID=s3.access_key,
            EVIDENCE_AWS_SECRET_ACCESS_KEY=s3.secret_key,
        )
        with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30) as http:
            run = Run(services, http)
            run.hide("the system's secret", SECRET)
            run.hide("key of the object store", s3.secret_key)
            run.hide("passwords of Postgres", PASSWORD)
            run.hide("password of Redis", urlsplit(servers.redis_url()).password or "")
            run.hide("an address", ADDRESS)
            for chapter in (_work, _refuse, _fail, _moderate):
                chapter(run)
        yield run, collector


def leaked(run: Run, told: str) -> list[str]:
    return sorted(what for what, value in run.hidden.items() if value in told)


@pytest.mark.parametrize("service", SERVICES)
def test_no_log_line_at_debug_level_tells_a_secret(ran: tuple[Run, Collector], service: str) -> None:
    run, _ = ran
    told = run.services.log(service)
    assert leaked(run, told) == []
    assert '"level":"info"' in told


def test_postgres_logs_the_rules_that_were_broken_without_the_rows(
    ran: tuple[Run, Collector], servers: Servers
) -> None:
    run, _ = ran
    told = servers.log("postgres")
    assert "nobody_knows" in told
    assert leaked(run, told) == []


def test_the_faults_are_logged_with_what_helps_to_find_them(ran: tuple[Run, Collector]) -> None:
    run, _ = ran
    told = run.services.log("admission") + run.services.log("dispatch")
    faults = [line for line in told.splitlines() if '"message":"fault"' in line]
    assert len(faults) >= 2
    assert [rule for rule in ("nobody_knows", "nobody_knew") if not any(rule in fault for fault in faults)] == []
    assert all(re.search(r'"trace_id":"[0-9a-f]{32}"', fault) for fault in faults)


@pytest.mark.parametrize("service", SERVICES)
def test_no_metrics_page_tells_a_secret(ran: tuple[Run, Collector], service: str) -> None:
    run, _ = ran
    told = run.services.metrics(service)
    assert leaked(run, told) == []
    assert "process_cpu_seconds_total" in told


def test_no_span_tells_a_secret(ran: tuple[Run, Collector]) -> None:
    run, collector = ran
    until(lambda: {told.service for told in list(collector.told)} == {f"horde-{name}" for name in SERVICES})
    time.sleep(1)  # the last batches: every service sends five a second
    told = b"".join(collector.raw).decode("utf-8", errors="replace")
    assert leaked(run, told) == []
