"""The catalogue of suspicions: what dispatch reports is what moderators are told."""

from horde.contract.suspicions import CATALOGUE
from services.dispatch.rules.suspicions import Suspicion


def test_dispatch_and_the_catalogue_number_the_reasons_alike() -> None:
    assert {one.value: one.name for one in Suspicion}.items() <= {
        one.id: one.name for one in CATALOGUE.values()
    }.items()
    assert [one.id for one in CATALOGUE.values() if one.accumulates] == [5, 9]
