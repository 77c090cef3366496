"""A little traffic of every kind, so that everything that can be counted has been counted once."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import asyncpg
import httpx
import openai

from horde.cli.admin import create_account
from horde.contract.vocabulary import chat_declaration, chat_policy
from tests.fakes.pictures import data_url, noise, picture
from tests.system.services import SECRET, Services
from tests.system.volunteer import Job, Volunteer

TALKS, SEES, WRITES = "test/Talks-7B", "test/Sees-7B", "test/Writes-13B"
_TRANSPORTS = chat_declaration.ChatImageTransport
_TEXT_POP = {
    "name": "writing worker",
    "models": [WRITES],
    "max_length": 4096,
    "max_context_length": 8192,
    "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
}
_SLOW = "test/Slow-7B"
_SLOW_POP = {
    "name": "slow worker",
    "models": [_SLOW],
    "chat_jobs": True,
    "prompt_jobs": False,
    "model_id": _SLOW,
    "chat_limits": {"max_context_length": 4096, "max_length": 512},
    "chat_features": ["prompt_overflow_refused"],
    "bridge_agent": "tests:1:tests",
}
_PROXIED = {"X-Forwarded-For": "198.51.100.7"}

NOBODY = "127.0.0.1:9"
"""Where no webhook is listened to: the port that discards."""


def prepare(services: Services) -> None:
    """What loops find at their first run: a debt that a floor forgave, and evidence past its window."""

    async def run() -> None:
        poor = await create_account(services.database_url, SECRET, "poor", kudos=25)
        owner = await create_account(services.database_url, SECRET, "rich")
        connection = await asyncpg.connect(services.database_url)
        try:
            settle = "SELECT admission.settle_v2($1, 'generation', NULL, $2, NULL, $3, 500, 500, 100, 100)"
            await connection.fetchval(settle, uuid.uuid4(), poor.id, owner.id)
            await connection.execute("UPDATE admission.kudos_ledger SET created = created - interval '5 minutes'")
            await connection.execute("UPDATE admission.ledger_marks SET through = through - interval '1 hour'")
            await connection.execute(
                "INSERT INTO moderation.moderation_events (created, ipaddr, reason, outcome, submitted_prompt)"
                " VALUES (now() - interval '30 days 5 minutes', '198.51.100.9', 'filter_rejection', 'rejected', 'old')"
            )
        finally:
            await connection.close()

    asyncio.run(run())


class Traffic:
    """Everybody who plays in it, with the keys they have."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._http = httpx.Client(base_url=f"{services.url}/api/v2", timeout=60)
        self._client, self._owner, self._giver = (services.account(name) for name in ("asks", "owns", "gives"))
        self._beggar = services.account("begs", kudos=0, trusted=False)
        made = create_account(services.database_url, SECRET, "moderates", moderator=True)
        self._moderator = asyncio.run(made).api_key
        self._to_fault = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def run(self) -> None:
        """One round of it all."""
        talking = Volunteer(
            self._services.url,
            self._owner.api_key,
            name="talks",
            model=TALKS,
            features=frozenset({chat_policy.ChatFeature.JSON_OBJECT}),
            decide=self._decide,
            reply=self._talk,
        )
        seeing = [
            Volunteer(
                self._services.url,
                self._owner.api_key,
                name=f"sees {transport}",
                model=f"{SEES}-{transport.value}",
                features=frozenset({chat_policy.ChatFeature.VISION}),
                transports=frozenset({transport, _TRANSPORTS.MESSAGES_URL}),
                reply=self._talk,
            )
            for transport in (_TRANSPORTS.URL, _TRANSPORTS.BASE64)
        ]
        with talking, seeing[0], seeing[1]:
            self._openai()
            for worker in seeing:
                self._chat(model=worker.model, content=_picture_of("How large?"))
                self._chat(model=worker.model, content=_picture_of("And this?", noise(500, kind="JPEG")), max_tokens=32)
            self._native()
        self._silence()
        self._text()
        self._accounts()
        self._refusals()
        self._moderation()

    def _decide(self, job: Job) -> str:
        """A worker gives up as many jobs as it was told to."""
        del job
        self._to_fault -= 1
        return "fault" if self._to_fault >= 0 else "reply"

    def _talk(self, job: Job) -> str:
        time.sleep(0.05)
        return f'{{"read": {len(job.messages)}}}'

    def _openai(self) -> None:
        """Streams and plain completions; one whose first worker gives up; one whose client leaves."""
        key, url = self._client.api_key, f"{self._services.url}/v1"
        hello: Any = [{"role": "user", "content": "Hello"}]
        with openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=60) as client:
            client.models.list()
            client.chat.completions.create(model=TALKS, messages=hello, max_tokens=4000)
            for _ in client.chat.completions.create(model=TALKS, messages=hello, stream=True):
                pass
            # one fault: another worker's reply is streamed; three: the stream ends with an error
            for self._to_fault in (1, 3):
                with contextlib.suppress(openai.APIError):
                    for _ in client.chat.completions.create(model=TALKS, messages=hello, stream=True):
                        pass
            with contextlib.suppress(openai.BadRequestError):
                client.chat.completions.create(model=TALKS, messages=hello, max_tokens=1)
            self._leave(hello)

    def _leave(self, hello: Any) -> None:
        """A client that hangs up while its request waits."""
        body = {"model": _SLOW, "messages": hello, "stream": True}
        headers = {"Authorization": f"Bearer {self._client.api_key}"}
        with contextlib.suppress(httpx.TimeoutException):
            httpx.post(f"{self._services.url}/v1/chat/completions", json=body, headers=headers, timeout=1)

    def _chat(self, *, model: str = TALKS, content: Any = "Hello", **more: Any) -> None:
        """Queued over the native route and waited for."""
        body = {"model": model, "messages": [{"role": "user", "content": content}], **more}
        queued = self._post("/generate/chat/async", body, self._client.api_key).raise_for_status().json()
        for _ in range(20):
            status = self._http.get(f"/generate/chat/status/{queued['id']}?wait_seconds=10").json()
            if status["done"] or status["faulted"]:
                return

    def _native(self) -> None:
        """Dry run, long history, cancel, and a request that three workers give up."""
        self._post("/generate/chat/async", {**_hello(TALKS), "horde": {"dry_run": True}}, self._client.api_key)
        self._chat(content="word " * 2_000, max_tokens=16, response_format={"type": "json_object"})
        self._to_fault = 3
        self._chat()
        self._to_fault = 0
        queued = self._post("/generate/chat/async", _hello(TALKS), self._client.api_key).json()["id"]
        self._http.delete(f"/generate/chat/status/{queued}")

    def _silence(self) -> None:
        """A slow worker whose lease lapses in the middle of a stream, which its second try brings to an end."""
        self._post("/generate/text/pop", _SLOW_POP, self._owner.api_key).raise_for_status()
        self._sql("UPDATE dispatch.workers SET speed = 3 WHERE name = 'slow worker'")
        with ThreadPoolExecutor(1) as pool:
            streaming = pool.submit(self._stream, _SLOW)
            lost = self._begin()
            time.sleep(0.5)  # until the words are with the client
            self._sql(
                "UPDATE dispatch.processing_gens SET lease_until = now() - interval '1 second' WHERE id = $1",
                uuid.UUID(lost),
            )
            job = self._begin()
            message = {"role": "assistant", "content": "I am slow."}
            reply = {"id": job, "message": message, "finish_reason": "stop", "model_id": _SLOW}
            self._post("/generate/text/submit", reply, self._owner.api_key).raise_for_status()
            streaming.result()
        self._sql("UPDATE dispatch.waiting_prompts SET expiry = now() - interval '1 second' WHERE n = 0 OR cancelled")

    def _begin(self) -> str:
        """The slow worker waits for a job and posts its first words."""
        pop = {**_SLOW_POP, "wait_seconds": 20}
        job = str(self._post("/generate/text/pop", pop, self._owner.api_key).raise_for_status().json()["id"])
        post = {"id": job, "seq": 1, "delta": {"content": "I am"}}
        self._post("/generate/text/progress", post, self._owner.api_key).raise_for_status()
        return job

    def _stream(self, model: str) -> None:
        """What a client of the front reads to its end."""
        body = {**_hello(model), "stream": True}
        headers = {"Authorization": f"Bearer {self._client.api_key}"}
        httpx.post(f"{self._services.url}/v1/chat/completions", json=body, headers=headers, timeout=60)

    def _text(self) -> None:
        """Text to a slow worker: over its capacity, empty, and reported; quoted; and what no worker here can do."""
        self._post("/generate/text/pop", _TEXT_POP, self._owner.api_key).raise_for_status()
        for reply in ({"generation": "the end."}, {"generation": ""}, {"generation": "x", "state": "csam"}):
            self._write(reply)
        body = {"prompt": "Once", "models": [WRITES], "dry_run": True}
        self._post("/generate/text/async", body, self._client.api_key).raise_for_status()
        body = {"prompt": "Once", "models": [WRITES], "softprompt": "none"}
        self._post("/generate/text/async", body, self._client.api_key).raise_for_status()
        self._post("/generate/text/pop", _TEXT_POP, self._owner.api_key).raise_for_status()

    def _write(self, reply: Mapping[str, str]) -> None:
        """A worker waits, a request comes, the worker replies."""
        with ThreadPoolExecutor(1) as pool:
            pop = {**_TEXT_POP, "wait_seconds": 20}
            popping = pool.submit(self._post, "/generate/text/pop", pop, self._owner.api_key)
            time.sleep(0.3)
            body = {"prompt": "Once", "models": [WRITES], "params": {"max_length": 3000, "max_context_length": 8192}}
            body["webhook"] = f"https://{NOBODY}/hook"
            self._post("/generate/text/async", body, self._client.api_key).raise_for_status()
            job = popping.result().raise_for_status().json()["id"]
        submit = {"id": job, "state": "ok", **reply}
        self._post("/generate/text/submit", submit, self._owner.api_key).raise_for_status()

    def _accounts(self) -> None:
        """A gift that is repeated."""
        gift = {"username": self._client.username, "amount": 10}
        for _ in range(2):
            headers = {"apikey": self._giver.api_key, "Idempotency-Key": "one gift"}
            self._http.post("/kudos/transfer", json=gift, headers=headers)

    def _refusals(self) -> None:
        """What is not let in."""
        self._post("/generate/chat/async", _hello(TALKS), "nobody's key")
        self._post(
            "/generate/chat/async",
            {**_hello(TALKS), "max_tokens": 1000, "horde": {"slow_workers": False}},
            self._beggar.api_key,
        )
        self._post(
            "/generate/chat/async", _hello(f"{SEES}-url") | {"messages": _broken_picture()}, self._client.api_key
        )

    def _moderation(self) -> None:
        """A filter, a prompt that it refuses, a mode that is set."""
        asking = {"apikey": self._moderator}
        self._http.put("/filters", json={"regex": "badword", "filter_type": 10, "replacement": ""}, headers=asking)
        self._http.put("/filters", json={"regex": "worse", "filter_type": 20}, headers=asking)
        self._http.put("/status/modes", json={"raid_mode": False}, headers=asking)
        body = _hello(TALKS) | {"messages": [{"role": "user", "content": "a badword, even worse"}]}
        for _ in range(40):
            if (
                self._post("/generate/chat/async", body, self._moderator, _PROXIED).status_code
                == httpx.codes.BAD_REQUEST
            ):
                break
            time.sleep(0.25)
        self._post("/generate/chat/async", body, self._client.api_key, _PROXIED)

    def _post(self, path: str, body: Any, key: str, more: Mapping[str, str] | None = None) -> httpx.Response:
        return self._http.post(path, json=body, headers={"apikey": key, **(more or {})})

    def _sql(self, statement: str, *args: Any) -> None:
        async def run() -> None:
            connection = await asyncpg.connect(self._services.database_url)
            try:
                await connection.execute(statement, *args)
            finally:
                await connection.close()

        asyncio.run(run())


def _hello(model: str) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 32}


def _picture_of(words: str, image: bytes | None = None) -> list[dict[str, Any]]:
    url = data_url(image or picture((60, 40)))
    return [{"type": "text", "text": words}, {"type": "image_url", "image_url": {"url": url}}]


def _broken_picture() -> list[dict[str, Any]]:
    broken = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    return [{"role": "user", "content": [{"type": "text", "text": "?"}, broken]}]
