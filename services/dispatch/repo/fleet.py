"""What the public routes tell of models and of the horde, from Postgres."""

from datetime import datetime

from horde.contract.models import ModelReference
from services.dispatch.repo import QUERIES, Access
from services.dispatch.rules.fleet import ChatOffer, Made, ModelMade, ModelStatus, Performance, TextStatistics

_LIST_MODELS = QUERIES["list_models"]
_LIST_CHAT_OFFERS = QUERIES["list_chat_offers"]
_MEASURE_HORDE = QUERIES["measure_horde"]
_MEASURE_TEXT_TOTALS = QUERIES["measure_text_totals"]
_MEASURE_TEXT_MODELS = QUERIES["measure_text_models"]
_COMPILE_TEXT_STATS = QUERIES["compile_text_stats"]


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


async def text_statistics(store: Access, now: datetime) -> TextStatistics:
    """What was made until now, by period and by model."""
    periods = await store.fetch(_MEASURE_TEXT_TOTALS, now)
    models = await store.fetch(_MEASURE_TEXT_MODELS, now)
    return TextStatistics(
        {row["period"]: Made(row["requests"], row["tokens"]) for row in periods},
        [ModelMade(**dict(row.items())) for row in models],
    )


async def compile_text_stats(store: Access, through: datetime) -> None:
    """Folds what ended before `through` into the sums by period."""
    await store.fetchval(_COMPILE_TEXT_STATS, through)
