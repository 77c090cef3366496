"""Webhooks of text requests through the whole system, with two dispatch replicas."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from horde.cli.stack.environment import SERVICES
from tests.fakes.receiver import Receiver, receiving
from tests.system.services import SECOND_DISPATCH, Services
from tests.system.text_worker import TextWorker

MODEL = "koboldcpp/Hooked-7B"
BOTH = ("dispatch", SECOND_DISPATCH)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture(scope="module")
def calling(
    new_services: Callable[..., Services], receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> Services:
    """A system that trusts the receiver's certificate and may call it although it is on this machine."""
    trusted: Path = tmp_path_factory.mktemp("trust") / "authority.pem"
    receiver.authority.cert_pem.write_to_path(str(trusted))
    return new_services(
        *SERVICES, SECOND_DISPATCH, HORDE_WEBHOOK_ALLOWED_HOSTS=receiver.place, SSL_CERT_FILE=str(trusted)
    )


@pytest.fixture(scope="module")
def worker(calling: Services) -> Iterator[TextWorker]:
    owner = calling.account("hooked_owner")
    with TextWorker(calling.url, owner.api_key, name="hooked volunteer", model=MODEL) as worker:
        yield worker


def asked(services: Services, key: str, webhook: str, **params: Any) -> dict[str, Any]:
    """The status of a text request with this webhook, once it is done; its id is added to it."""
    body = {"prompt": "Once upon a time", "models": [MODEL], "webhook": webhook, "params": {"max_length": 32, **params}}
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30) as http:
        queued = http.post("/generate/text/async", json=body, headers={"apikey": key}).raise_for_status().json()["id"]
        end = time.monotonic() + 60
        while time.monotonic() < end:
            status: dict[str, Any] = http.get(f"/generate/text/status/{queued}").raise_for_status().json()
            if status["done"]:
                return {"id": queued, **status}
            time.sleep(0.1)
    raise TimeoutError(queued)


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def outcomes(services: Services, outcome: str) -> float:
    """Of both replicas together."""
    wanted = f'horde_webhook_outcomes_total{{outcome="{outcome}"}} '
    lines = [line for replica in BOTH for line in services.metrics(replica).splitlines()]
    return sum(float(line.removeprefix(wanted)) for line in lines if line.startswith(wanted))


def test_each_reply_of_a_text_request_is_told_once_as_its_status_shows_it(
    calling: Services, worker: TextWorker, receiver: Receiver
) -> None:
    client = calling.account("hooked_client")
    status = asked(calling, client.api_key, receiver.url, n=6)
    until(lambda: outcomes(calling, "ok") == 6)
    assert {told["request"] for told in receiver.told} == {status["id"]}
    assert {told["id"] for told in receiver.told} == {job["id"] for job in worker.popped}
    assert sorted(told["kudos"] for told in receiver.told) == sorted(worker.rewards)
    shown = [{key: told[key] for key in told if key not in {"request", "id", "kudos"}} for told in receiver.told]
    assert len(shown) == 6
    assert all(one == status["generations"][0] for one in (*shown, *status["generations"]))
    assert calling.ledger_faults() == []


def test_a_webhook_on_the_operators_network_is_never_called_and_nobody_notices(
    calling: Services, worker: TextWorker
) -> None:
    client, paid = calling.account("hopeful_client"), len(worker.rewards)
    with receiving() as hidden:
        status = asked(calling, client.api_key, hidden.url)
        until(lambda: outcomes(calling, "giveup") == 1)
        assert hidden.asked == []
    assert len(status["generations"]) == 1
    assert worker.rewards[paid] > 0
    assert "a-secret" not in calling.log("dispatch") + calling.log(SECOND_DISPATCH)
