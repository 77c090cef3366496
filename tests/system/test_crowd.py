"""Two hundred requests, eight clients, eight workers, faults and cancels: every request ends, no kudo is lost."""

from tests.system.crowd import Crowd
from tests.system.services import Services


def test_every_request_ends_none_is_served_twice_and_the_ledger_holds(services: Services) -> None:
    crowd = Crowd(services, requests=200)
    crowd.run()
    assert crowd.errors == []
    assert sum(crowd.endings.values()) == 200
    assert crowd.endings["done"] > 100
    assert len(crowd.handed_out) == len(set(crowd.handed_out))
    assert crowd.broken_promises() == {}
    assert services.ledger_faults() == []
