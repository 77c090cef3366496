"""Each service is killed in the middle of a crowd and started again: nothing is lost."""

import threading
import time
from collections.abc import Callable

from horde.cli.stack.environment import SERVICES
from tests.system.crowd import Crowd
from tests.system.services import Services


def test_a_killed_service_loses_no_request_no_reply_and_no_kudo(new_services: Callable[..., Services]) -> None:
    # a job whose worker never heard of it comes back after its lease; 16 tokens fit into it at 10 a second
    services = new_services(
        HORDE_TEXT_JOB_LEASE_SECONDS="6", HORDE_TEXT_JOB_PREPARATION_SECONDS="1", HORDE_CLEANUP_INTERVAL_SECONDS="1"
    )
    crowd, enough = Crowd(services, requests=200, vanish_share=0.02), threading.Event()
    running = threading.Thread(target=crowd.run, args=(enough,), daemon=True)
    running.start()
    time.sleep(2)
    for name in SERVICES:
        services.kill(name)
        time.sleep(0.3)
        services.start(name)
        time.sleep(0.7)
    enough.set()
    running.join(150)
    assert not running.is_alive()
    assert crowd.errors == []
    assert sum(crowd.endings.values()) == crowd.asked
    assert crowd.endings["done"] > crowd.asked // 2
    assert crowd.broken_promises() == {}
    assert services.ledger_faults() == []
