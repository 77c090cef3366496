"""The proof that admission makes of its ledger while it is used finds what `horde admin ledger check` finds."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY

from horde.cli.admin import check_ledger
from services.admission.__main__ import loops
from services.admission.loops.ledger_proof import LedgerProof
from services.admission.loops.measure_kudos import measure_kudos
from services.admission.rules.ledger import FINDINGS
from tests.fakes.admission_world import AdmissionWorld, chat

SETTLE = "SELECT admission.settle_v2($1, 'generation', NULL, $2, NULL, $3, 500, 500, 100, 100)"
POSTING = (
    "INSERT INTO admission.kudos_ledger (set_id, entry_type, account, user_id, amount)"
    " VALUES ($1, 'GENERATION', $2, $3, $4)"
)
HOLD = (
    "INSERT INTO admission.kudos_reservations (business_id, user_id, request_id, original_amount, remaining_amount)"
    " VALUES ('upfront:' || $1::uuid, $2, $1, 700, 700)"
)


def told() -> set[str]:
    """The findings that the gauge shows."""
    return {
        finding
        for finding in FINDINGS
        if REGISTRY.get_sample_value("horde_admission_ledger_findings", {"finding": finding})
    }


def counting(name: str, **labels: str) -> Callable[[], float]:
    """What an instrument has counted since now."""

    def read() -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    before = read()
    return lambda: read() - before


async def age(world: AdmissionWorld, by: str = "1 day") -> None:
    """All that was posted happened that much earlier."""
    await world.sql.execute("UPDATE admission.kudos_ledger SET created = created - $1::text::interval", by)


async def trade(world: AdmissionWorld, times: int = 4) -> tuple[int, int]:
    """A requester and a worker's owner between whom that many generations were settled."""
    requester, owner = (await world.account("requester", kudos=1000)).id, (await world.account("owner")).id
    for _ in range(times):
        await world.sql.execute(SETTLE, uuid4(), requester, owner)
    return requester, owner


async def spoil(world: AdmissionWorld, finding: str, account: int) -> None:
    """Makes the ledger unsound in one way."""
    match finding:
        case "balance_differs":
            await world.sql.execute("UPDATE admission.users SET kudos = kudos + 1 WHERE id = $1", account)
        case "escrow_differs":
            await world.sql.execute(
                "UPDATE admission.users SET evaluating_kudos = evaluating_kudos + 1 WHERE id = $1", account
            )
        case "hold_outlives_its_request":
            await world.sql.execute(HOLD, uuid4(), account)
        case _:
            await world.sql.execute(POSTING, uuid4(), "user", account, 5)
            await world.sql.execute("UPDATE admission.users SET kudos = kudos + 5 WHERE id = $1", account)


@pytest.mark.parametrize("is_proved_before", [True, False])
@pytest.mark.parametrize("finding", FINDINGS)
async def test_the_proof_finds_what_the_command_finds(
    world: AdmissionWorld, finding: str, *, is_proved_before: bool
) -> None:
    proof = LedgerProof(world.deps.store, world.deps.events)
    requester, _ = await trade(world)
    await age(world)
    if is_proved_before:
        await proof.run()
        assert told() == set()
    await spoil(world, finding, requester)
    for _ in range(2):  # it is still told after an hour
        await proof.run()
        assert told() == {finding}
    found = await check_ledger(world.database.url)
    assert {row["finding"].replace(" ", "_") for row in found} == {finding}


async def test_a_finding_is_told_until_it_is_mended(world: AdmissionWorld) -> None:
    proof = LedgerProof(world.deps.store, world.deps.events)
    requester, _ = await trade(world)
    await spoil(world, "balance_differs", requester)
    await proof.run()
    assert told() == {"balance_differs"}
    await world.sql.execute("UPDATE admission.users SET kudos = kudos - 1 WHERE id = $1", requester)
    await proof.run()
    assert told() == set()


async def test_a_look_goes_on_where_the_last_one_ended(world: AdmissionWorld) -> None:
    requester, owner = await trade(world)
    await age(world)
    await LedgerProof(world.deps.store, world.deps.events).run()
    kept = await world.sql.fetch("SELECT user_id, kudos FROM admission.ledger_proofs ORDER BY user_id")
    balances = await world.sql.fetch(
        "SELECT id, kudos FROM admission.users WHERE id IN ($1, $2) ORDER BY id", requester, owner
    )
    assert [tuple(row) for row in kept] == [tuple(row) for row in balances]
    # what was proved is not read again: it could be gone
    await world.sql.execute("DELETE FROM admission.kudos_ledger")
    await world.sql.execute(SETTLE, uuid4(), requester, owner)
    await LedgerProof(world.deps.store, world.deps.events).run()
    assert told() == set()


async def test_an_account_with_many_postings_is_looked_at_in_parts(world: AdmissionWorld) -> None:
    requester, owner = await trade(world, times=20)
    await world.sql.execute(
        "UPDATE admission.kudos_ledger SET created = created - make_interval(hours => 24, secs => id::int)"
    )
    proof = LedgerProof(world.deps.store, world.deps.events, postings=3)
    await proof.run()
    assert told() == set()
    kept = await world.sql.fetch("SELECT user_id FROM admission.ledger_proofs ORDER BY user_id")
    assert [row["user_id"] for row in kept] == sorted([requester, owner])
    # an unbalanced set in the middle is found from the first posting on, and told by every later proof
    await world.sql.execute(
        "UPDATE admission.kudos_ledger SET amount = amount - 1 WHERE account = 'burn' AND id % 7 = 0"
    )
    await spoil(world, "balance_differs", requester)
    for _ in range(2):
        await proof.run()
        assert told() == {"balance_differs", "unbalanced_set"}


async def test_a_run_ends_after_its_statements_and_the_next_goes_on(world: AdmissionWorld) -> None:
    _, owner = await trade(world, times=5)
    await spoil(world, "escrow_differs", owner)
    await age(world)
    proof = LedgerProof(world.deps.store, world.deps.events, postings=1, statements=1)
    for _ in range(40):
        await proof.run()
    assert told() == {"escrow_differs"}


async def test_a_proof_that_was_kept_wrongly_makes_no_finding(world: AdmissionWorld) -> None:
    requester, _ = await trade(world)
    await age(world)
    proof = LedgerProof(world.deps.store, world.deps.events)
    await proof.run()
    await world.sql.execute("UPDATE admission.ledger_proofs SET kudos = kudos + 3 WHERE user_id = $1", requester)
    await proof.run()
    assert told() == set()


async def test_settlements_under_way_make_no_finding_and_replicas_may_prove_at_once(world: AdmissionWorld) -> None:
    requester, owner = await trade(world)
    await age(world)

    async def work() -> None:
        for _ in range(60):
            await world.sql.execute(SETTLE, uuid4(), requester, owner)

    async def prove() -> None:
        proof = LedgerProof(world.deps.store, world.deps.events, postings=2)
        for _ in range(10):
            await proof.run()
            assert told() == set()

    await asyncio.gather(work(), prove(), prove())


async def test_a_waiting_requests_hold_is_no_finding_and_is_shown(world: AdmissionWorld) -> None:
    await world.worker()
    account = await world.account(kudos=1000)
    await world.admit(chat(horde={"slow_workers": False}), key=account.api_key)
    await world.sql.execute("UPDATE admission.kudos_reservations SET created = created - interval '1 hour'")
    await LedgerProof(world.deps.store, world.deps.events).run()
    await measure_kudos(world.deps.store, world.deps.events)
    assert told() == set()
    assert REGISTRY.get_sample_value("horde_kudos_active_reservations") == 1
    assert 3600 <= (REGISTRY.get_sample_value("horde_kudos_oldest_reservation_seconds") or 0) < 3700
    await world.sql.execute("UPDATE dispatch.waiting_prompts SET faulted = true")
    await LedgerProof(world.deps.store, world.deps.events).run()
    assert told() == {"hold_outlives_its_request"}


async def test_what_a_floor_forgave_is_counted_once_by_whichever_replica_looks_first(world: AdmissionWorld) -> None:
    counted = counting("horde_kudos_floor_adjustments_total", account_class="registered")
    kudos = counting("horde_kudos_floor_adjustments_kudos_total", account_class="registered")
    poor, owner = (await world.account("poor", kudos=25)).id, (await world.account("owner")).id
    for _ in range(2):
        await world.sql.execute(SETTLE, uuid4(), poor, owner)
    await age(world, "5 minutes")
    await world.sql.execute("UPDATE admission.ledger_marks SET through = through - interval '1 hour'")
    for _ in range(2):
        await measure_kudos(world.deps.store, world.deps.events)
    assert (counted(), kudos()) == (2, 12)


async def test_the_ledger_is_proved_every_hour(world: AdmissionWorld) -> None:
    every = {loop.name: loop.every for loop in loops(world.deps)}
    assert every["prove_ledger"] == timedelta(hours=1)
    assert every["measure_kudos"] == timedelta(minutes=1)
