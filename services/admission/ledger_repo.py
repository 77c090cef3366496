"""The statements that prove and measure the ledger; rows turned into facts at this edge."""

from collections.abc import Sequence
from datetime import timedelta

from horde.store import Store, queries
from services.admission.rules.ledger import Adjustment, Holds, Look

_SQL = queries("services.admission")


async def look(store: Store, after: int, *, accounts: int, postings: int, margin: timedelta) -> list[Look]:
    """The next accounts behind `after`, each with what its postings add up to."""
    rows = await store.fetch(_SQL["prove_accounts"], after, accounts, postings, margin)
    return [Look(**dict(row)) for row in rows]


async def keep(store: Store, looks: Sequence[Look]) -> None:
    """Their next looks go on where these ended."""
    columns = ("id", "through", "settled_kudos", "settled_escrow")
    await store.execute(_SQL["keep_proofs"], *([getattr(one, name) for one in looks] for name in columns))


async def forget(store: Store, account: int) -> None:
    """Its next look begins with its first posting."""
    await store.execute(_SQL["forget_proof"], account)


async def holds(store: Store) -> Holds:
    """The holds that are active now."""
    row = await store.fetchrow(_SQL["measure_holds"])
    if row is None:
        raise LookupError("an aggregate answered nothing")
    return Holds(row["holds"], row["oldest"])


async def adjustments(store: Store, *, margin: timedelta) -> list[Adjustment]:
    """What floors forgave since anybody counted it; nobody else will count it again."""
    claimed = await store.fetchrow(_SQL["claim_adjustments"], margin)
    if claimed is None:
        raise LookupError("the ledger has no mark")
    return [
        Adjustment(**dict(row))
        for row in await store.fetch(_SQL["count_adjustments"], claimed["since"], claimed["until"])
    ]
