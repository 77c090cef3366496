"""Two dispatch processes behind one gateway: they share the work, wake each other's waiting pops, and one may die."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from horde.cli.stack.environment import SERVICES
from tests.system.crowd import Crowd
from tests.system.services import SECOND_DISPATCH, Services

MODEL = "test/Twin-7B"
BOTH = ("dispatch", SECOND_DISPATCH)


@pytest.fixture(scope="module")
def twins(new_services: Callable[..., Services]) -> Services:
    """A system with two dispatch replicas, whose jobs come back soon after their worker is lost."""
    return new_services(
        *SERVICES,
        SECOND_DISPATCH,
        HORDE_TEXT_JOB_LEASE_SECONDS="6",
        HORDE_TEXT_JOB_PREPARATION_SECONDS="1",
        HORDE_CLEANUP_INTERVAL_SECONDS="1",
    )


def _metric(services: Services, replica: str, pattern: str) -> float:
    found = re.search(rf"^{pattern} (\S+)$", services.metrics(replica), re.MULTILINE)
    return float(found[1]) if found else 0.0


def _pop(name: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "models": [MODEL],
        "max_length": 64,
        "max_context_length": 4096,
        "bridge_agent": "KoboldCppEmbedWorker:2:https://github.com/LostRuins/koboldcpp",
        "chat_jobs": True,
        "model_id": MODEL,
        "chat_limits": {"max_context_length": 4096, "max_length": 64},
        "chat_features": ["prompt_overflow_refused"],
        **fields,
    }


def test_waiting_pops_of_both_replicas_are_woken_whoever_queued_the_job(twins: Services) -> None:
    owner, client = twins.account("twin_owner"), twins.account("twin_client")
    jobs: list[str | None] = []
    with httpx.Client(base_url=f"{twins.url}/api/v2", timeout=60) as http:
        worker, asking = {"apikey": owner.api_key}, {"apikey": client.api_key}
        names = [f"twin {place}" for place in range(6)]
        for name in names:
            assert http.post("/generate/text/pop", json=_pop(name), headers=worker).json()["id"] is None

        def wait(name: str) -> None:
            answer = httpx.post(
                f"{twins.url}/api/v2/generate/text/pop", json=_pop(name, wait_seconds=30), headers=worker, timeout=60
            )
            jobs.append(answer.json()["id"])

        waiting = [threading.Thread(target=wait, args=(name,), daemon=True) for name in names]
        for thread in waiting:
            thread.start()
        _until(lambda: sum(_metric(twins, replica, "horde_pop_waiting") for replica in BOTH) == len(names))
        seats = [_metric(twins, replica, "horde_pop_waiting") for replica in BOTH]
        assert min(seats) > 0, seats

        started = time.monotonic()
        body = {"model": MODEL, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16}
        for _ in names:
            assert http.post("/generate/chat/async", json=body, headers=asking).status_code == 202
        for thread in waiting:
            thread.join(25)
        # far below the 30 seconds after which a pop that nobody wakes looks for the last time
        assert time.monotonic() - started < 20
    assert None not in jobs
    assert len(set(jobs)) == len(names)


def test_a_crowd_is_served_by_both_although_one_is_killed_in_the_middle(twins: Services) -> None:
    crowd, enough = Crowd(twins, requests=120, vanish_share=0.01), threading.Event()
    running = threading.Thread(target=crowd.run, args=(enough,), daemon=True)
    running.start()
    _until(lambda: min(_claims(twins)) > 0)
    twins.kill(SECOND_DISPATCH)
    time.sleep(1)
    twins.start(SECOND_DISPATCH)
    # its counts began anew
    _until(lambda: min(_claims(twins)) > 0)
    enough.set()
    running.join(150)
    assert not running.is_alive()
    assert crowd.errors == []
    assert sum(crowd.endings.values()) == crowd.asked
    assert crowd.endings["done"] > crowd.asked // 2
    assert len(crowd.handed_out) == len(set(crowd.handed_out))
    assert crowd.broken_promises() == {}
    assert twins.ledger_faults() == []


def _claims(services: Services) -> list[float]:
    pattern = r'horde_pop_returned_jobs_count\{gentype="text",outcome="match"\}'
    return [_metric(services, replica, pattern) for replica in BOTH]


def _until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < ends_at, "waited in vain"
        time.sleep(0.1)
