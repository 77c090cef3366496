"""Streams of the OpenAI front on a bad day: its worker dies, its client vanishes, Redis or the gateway restarts."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import openai
import pytest

from horde.cli.stack.environment import SERVICES
from tests.servers import Restartable, Servers
from tests.system.hand_worker import HandWorker
from tests.system.services import Services

MODEL = "test/Faults-7B"
_SECONDS = 60


@dataclass
class Reading(threading.Thread):
    """An unmodified client that reads a stream in the background."""

    url: str
    api_key: str
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self.finish: str | None = None
        self.error: Exception | None = None

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        try:
            with openai.OpenAI(base_url=f"{self.url}/v1", api_key=self.api_key, max_retries=0) as client:
                for chunk in client.chat.completions.create(
                    model=MODEL,
                    messages=[{"role": "user", "content": "Hello"}],
                    max_tokens=16,
                    stream=True,
                    extra_headers=self.headers,
                ):
                    self.text += chunk.choices[0].delta.content or ""
                    self.finish = chunk.choices[0].finish_reason
        except (openai.APIError, httpx.TransportError) as error:
            self.error = error

    def has_read(self, text: str) -> None:
        """Waits until exactly this was read."""
        end = time.monotonic() + _SECONDS
        while self.text != text:
            assert time.monotonic() < end, (self.text, self.error)
            assert text.startswith(self.text)
            time.sleep(0.02)

    def ended(self) -> None:
        """Waits for the end of the stream."""
        self.join(_SECONDS)
        assert not self.is_alive()


@pytest.fixture(scope="module")
def valkey(servers: Servers) -> Iterator[Restartable]:
    server = servers.own_valkey("valkey-of-stream-faults")
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def faulty(servers: Servers, valkey: Restartable, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """A system whose leases are short, so that a dead worker's job comes back soon."""
    services = Services(
        tmp_path_factory.mktemp("faulty"),
        servers.new_database(),
        valkey.url,
        servers.object_store(),
        {
            # 16 tokens fit into it at 10 a second
            "HORDE_TEXT_JOB_LEASE_SECONDS": "4",
            "HORDE_TEXT_JOB_PREPARATION_SECONDS": "1",
            "HORDE_CLEANUP_INTERVAL_SECONDS": "1",
        },
    )
    try:
        services.start(*SERVICES)
        yield services
    finally:
        services.stop()


@pytest.fixture
def workers(faulty: Services) -> Iterator[tuple[HandWorker, HandWorker]]:
    made = [HandWorker(faulty.url, faulty.account(f"faults_owner_{n}").api_key, MODEL) for n in range(2)]
    for worker in made:
        worker.pop(until_there_is_one=False)
    yield made[0], made[1]
    for worker in made:
        worker.close()


@pytest.fixture
def reading(faulty: Services) -> Reading:
    return Reading(faulty.url, faulty.account("faults_client").api_key)


@dataclass(frozen=True)
class Ending:
    """What the first worker said, what the second one submits, and what the client then has."""

    said: str
    second: str
    text: str
    code: str | None = None


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(Ending("Same ", "Same words", "Same words"), id="it continues what was sent"),
        pytest.param(Ending("One ", "Other words", "One ", "stream_restarted"), id="it differs from what was sent"),
        pytest.param(Ending("", "All of it", "All of it"), id="nothing was sent"),
    ],
)
def test_a_worker_dies_in_the_middle_and_another_finishes(
    faulty: Services, workers: tuple[HandWorker, HandWorker], reading: Reading, ending: Ending
) -> None:
    reading.start()
    job = workers[0].pop()
    if ending.said:
        assert workers[0].post(job, 1, ending.said).json() == {"accepted_seq": 1, "cancelled": False}
        reading.has_read(ending.said)
    again = workers[1].pop()
    assert again["id"] != job["id"]
    workers[1].submit(again, ending.second)
    reading.ended()
    assert reading.text == ending.text
    if ending.code is None:
        assert (reading.finish, reading.error) == ("stop", None)
    else:
        assert isinstance(reading.error, openai.APIError)
        assert reading.error.code == ending.code
    late = workers[0].post(job, 2, "too late")
    assert (late.status_code, late.json()["rc"]) == (404, "ChatJobAborted")
    assert faulty.ledger_faults() == []


def test_redis_restarts_in_the_middle_and_the_reply_is_whole(
    valkey: Restartable, workers: tuple[HandWorker, HandWorker], reading: Reading
) -> None:
    reading.start()
    job = workers[0].pop()
    assert workers[0].post(job, 1, "One ").status_code == 200
    reading.has_read("One ")
    valkey.kill()
    away = workers[0].post(job, 2, "two ")
    assert (away.status_code, away.json()["rc"]) == (503, "ChatProgressUnavailable")
    valkey.start()
    # What it remembers decides whether the worker may go on posting; the reply does not depend on it.
    again = workers[0].post(job, 2, "two ")
    assert again.status_code in {200, 404, 409}
    workers[0].submit(job, "One two three")
    reading.ended()
    assert (reading.text, reading.finish, reading.error) == ("One two three", "stop", None)


def test_a_client_that_vanishes_stops_its_worker_and_pays_for_what_was_said(
    faulty: Services, workers: tuple[HandWorker, HandWorker]
) -> None:
    client = faulty.account("vanishing_client")
    body = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 16, "stream": True}
    headers = {"authorization": f"Bearer {client.api_key}"}
    with httpx.stream("POST", f"{faulty.url}/v1/chat/completions", json=body, headers=headers, timeout=30) as stream:
        job = workers[0].pop()
        assert workers[0].post(job, 1, "Once upon a time").json()["cancelled"] is False
        request_id = stream.headers["x-horde-request-id"]
        assert any("Once upon" in line for line in stream.iter_lines())
    end = time.monotonic() + 15
    seq, answer = 2, workers[0].post(job, 2, " there")
    while answer.status_code == 200 and not answer.json()["cancelled"]:
        assert time.monotonic() < end, "the worker was not told to stop"
        seq += 1
        time.sleep(0.1)
        answer = workers[0].post(job, seq, ".")
    assert answer.status_code == 200
    status = httpx.get(f"{faulty.url}/api/v2/generate/chat/status/{request_id}", timeout=30).json()
    assert (status["done"], status["finished"]) == (True, 0)
    assert status["kudos"] > 0
    assert faulty.ledger_faults() == []


def test_after_a_restart_of_the_gateway_a_repeat_gets_the_first_ones_request_from_its_start(
    services: Services,
) -> None:
    # leases of the usual length: a gateway on a busy machine needs longer to come back than the short ones last
    worker = HandWorker(services.url, services.account("restart_owner").api_key, MODEL)
    worker.pop(until_there_is_one=False)
    key = services.account("restarting_client").api_key
    named = {"Idempotency-Key": f"restart-{time.monotonic_ns()}"}
    first, second = Reading(services.url, key, named), Reading(services.url, key, named)
    first.start()
    job = worker.pop()
    assert worker.post(job, 1, "One ").status_code == 200
    first.has_read("One ")
    services.kill("gateway")
    first.ended()
    assert first.error is not None
    services.start("gateway")
    second.start()
    second.has_read("One ")
    assert worker.post(job, 2, "two").status_code == 200
    second.has_read("One two")
    worker.submit(job, "One two")
    second.ended()
    assert (second.text, second.finish, second.error) == ("One two", "stop", None)
    assert worker.pop(until_there_is_one=False)["id"] is None, "the repeat was queued as a request of its own"
    worker.close()
