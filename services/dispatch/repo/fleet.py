"""What the public routes tell of models and of the horde, from Postgres."""

from datetime import datetime

from horde.contract.models import ModelReference
from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.fleet import ChatOffer, ModelStatus, Performance

_LIST_MODELS = QUERIES["list_models"]
_LIST_CHAT_OFFERS = QUERIES["list_chat_offers"]
_MEASURE_HORDE = QUERIES["measure_horde"]


async def list_models(
    store: Access,
    online: datetime,
    performances_since: datetime,
    *,
    reference: ModelReference,
) -> list[ModelStatus]:
    """Every model that a worker serves or a request waits for. `online`: the check-in that still counts."""
    return [
        ModelStatus(
            name=row["model"],
            threads=row["threads"],
            performance=round(row["performance"], 1),
            queued=row["queued"],
            jobs=row["jobs"],
            custom=not reference.is_known(row["model"]),
        )
        for row in await store.fetch(_LIST_MODELS, online, performances_since)
    ]


async def chat_offers(store: Access, online: datetime) -> dict[str, ChatOffer]:
    """What online chat workers offer, by model."""
    return {
        row["model"]: ChatOffer(
            workers=row["workers"],
            max_context_length=row["max_context_length"],
            max_length=row["max_length"],
            features=row["features"],
            created=row["created"],
        )
        for row in await store.fetch(_LIST_CHAT_OFFERS, online)
    }


async def measure(store: Access, online: datetime, minute_ago: datetime) -> Performance:
    """The horde in numbers."""
    row = await store.fetchrow(_MEASURE_HORDE, online, minute_ago)
    if row is None:
        raise AssertionError("an aggregate without grouping always gives a row")
    return Performance(**dict(row.items()))
