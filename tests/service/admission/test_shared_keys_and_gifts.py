"""Shared keys, kudos given from account to account, and what requests cost."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from horde.cli.admin import check_ledger
from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import accounts_service_pb2 as pb
from horde_pb.admission.v1 import shared_keys_pb2 as keys_pb
from tests.fakes.admission_world import MODEL, AdmissionWorld, admission_world, chat
from tests.servers import Database

ANONYMOUS = "0000000000"
FLAGGED, EDUCATION, DELETED = 3, 8, 9


async def refused(world: AdmissionWorld, name: str, request: Any) -> str:
    with pytest.raises(Refusal) as caught:
        await world.call(name, request)
    return caught.value.reason.key


async def lend(world: AdmissionWorld, key: str, **wanted: Any) -> keys_pb.SharedKeyDetails:
    request = keys_pb.CreateSharedKeyRequest(api_key=key, key=keys_pb.SharedKeyChange(**wanted))
    made: keys_pb.SharedKeyDetails = (await world.call("CreateSharedKey", request)).key
    return made


async def test_a_key_is_lent_read_changed_and_taken_back(world: AdmissionWorld) -> None:
    owner, other = await world.account("owner"), await world.account("other")
    plain = await lend(world, owner.api_key)
    assert (plain.username, plain.kudos_hundredths, plain.max_text_tokens) == (owner.username, 500_000, -1)
    assert not plain.HasField("expiry")
    key = await lend(world, owner.api_key, name="mine", kudos_hundredths=-100, expiry_days=3, max_text_tokens=100)
    read = (await world.call("GetSharedKey", keys_pb.GetSharedKeyRequest(id=key.id))).key
    assert read == key
    assert read.expiry.ToDatetime() - world.clock.now().replace(tzinfo=None) == timedelta(days=3)
    change = keys_pb.SharedKeyChange(kudos_hundredths=7_000, expiry_days=-1)
    changing = keys_pb.UpdateSharedKeyRequest(api_key=owner.api_key, id=key.id, change=change)
    changed = (await world.call("UpdateSharedKey", changing)).key
    assert (changed.name, changed.kudos_hundredths, changed.HasField("expiry")) == ("mine", 7_000, False)
    changing.api_key = other.api_key
    assert await refused(world, "UpdateSharedKey", changing) == "Forbidden"
    nothing = keys_pb.UpdateSharedKeyRequest(api_key=owner.api_key, id=key.id)
    assert await refused(world, "UpdateSharedKey", nothing) == "NoSharedKeyModSelected"
    deleting = keys_pb.DeleteSharedKeyRequest(api_key=other.api_key, id=key.id)
    assert await refused(world, "DeleteSharedKey", deleting) == "Forbidden"
    deleting.api_key = owner.api_key
    await world.call("DeleteSharedKey", deleting)
    assert await refused(world, "DeleteSharedKey", deleting) == "InvalidAPIKey"
    for unknown in (key.id, "no uuid", str(uuid4())):
        assert await refused(world, "GetSharedKey", keys_pb.GetSharedKeyRequest(id=unknown)) == "InvalidAPIKey"


async def test_how_many_keys_an_account_may_lend(world: AdmissionWorld) -> None:
    plain, trusted = await world.account("plain"), await world.account("trusted", trusted=True)
    for account, most in ((plain, 3), (trusted, 10)):
        for _ in range(most):
            await lend(world, account.api_key)
        assert (
            await refused(world, "CreateSharedKey", keys_pb.CreateSharedKeyRequest(api_key=account.api_key))
            == "Forbidden"
        )
    await world.sql.execute("INSERT INTO admission.user_roles VALUES ($1, $2)", plain.id, EDUCATION)
    await lend(world, plain.api_key)
    for key, refusal in ((ANONYMOUS, "AnonForbidden"), ("nobody's", "InvalidAPIKey")):
        assert await refused(world, "CreateSharedKey", keys_pb.CreateSharedKeyRequest(api_key=key)) == refusal


async def test_the_owner_sees_what_waits_and_a_deleted_key_takes_it_along(world: AdmissionWorld) -> None:
    await world.worker()
    owner = await world.account("owner", kudos=1000)
    key = await lend(world, owner.api_key)
    admitted = await world.admit(chat(), key=key.id)
    asking = keys_pb.GetSharedKeyRequest(id=key.id, api_key=owner.api_key)
    load = (await world.call("GetSharedKey", asking)).key.active_text
    assert (load.requests, load.queued, load.processing) == (1, 1, 0)
    assert not (await world.call("GetSharedKey", keys_pb.GetSharedKeyRequest(id=key.id))).key.HasField("active_text")
    await world.call("DeleteSharedKey", keys_pb.DeleteSharedKeyRequest(api_key=owner.api_key, id=key.id))
    row = await world.row(admitted.request_id)
    assert (row["n"], row["cancelled"]) == (0, True)
    assert row["expiry"] <= await world.sql.fetchval("SELECT now()")
    assert await world.sql.fetchval("SELECT count(*) FROM dispatch.wp_models WHERE waiting") == 0


def gift(key: str, target: str, amount: int = 1_000, retry_key: str = "") -> pb.TransferKudosRequest:
    return pb.TransferKudosRequest(api_key=key, target=target, amount_hundredths=amount, retry_key=retry_key)


async def test_kudos_move_once_for_each_retry_key(world: AdmissionWorld) -> None:
    giver, taker = await world.account("giver", kudos=100), await world.account("taker", kudos=30)
    asked = gift(giver.api_key, taker.username, retry_key="one")
    assert (await world.call("TransferKudos", asked)).transferred_hundredths == 1_000
    assert (await world.call("TransferKudos", asked)).transferred_hundredths == 1_000
    different = gift(giver.api_key, taker.username, 2_000, retry_key="one")
    assert await refused(world, "TransferKudos", different) == "IdempotencyKeyConflict"
    await world.call("TransferKudos", gift(giver.api_key, f"any name#{taker.id}"))
    balances = await world.sql.fetch("SELECT kudos FROM admission.users WHERE id > 0 ORDER BY id")
    assert [row["kudos"] for row in balances] == [8_000, 5_000]
    stats = await world.sql.fetch("SELECT user_id, action, value FROM admission.user_stats ORDER BY user_id")
    assert [tuple(row) for row in stats] == [(giver.id, "gifted", -2_000), (taker.id, "received", 2_000)]
    assert await refused(world, "TransferKudos", gift(taker.api_key, giver.username)) == "TooFastKudosTransfers"
    # what stays is the floor of 25 kudos
    assert await refused(world, "TransferKudos", gift(giver.api_key, taker.username, 5_501)) == "KudosTransferNotEnough"
    await world.call("TransferKudos", gift(giver.api_key, taker.username, 5_500))
    assert await check_ledger(world.database.url) == []


async def test_a_gift_to_a_shared_key_fills_its_budget(world: AdmissionWorld) -> None:
    giver, owner = await world.account("giver", kudos=100), await world.account("owner")
    key = await world.lend(owner.id, kudos=500)
    unlimited = await world.lend(owner.id, kudos=-100)
    expired = await world.lend(owner.id, expiry=world.clock.now() - timedelta(days=1))
    for target in (key, unlimited):
        await world.call("TransferKudos", gift(giver.api_key, target))
    rows = await world.sql.fetch("SELECT id, kudos FROM admission.user_sharedkeys")
    assert {str(row["id"]): row["kudos"] for row in rows} | {expired: 0} == {key: 1_500, unlimited: -100, expired: 0}
    assert await world.sql.fetchval("SELECT kudos FROM admission.users WHERE id = $1", owner.id) == 2_000
    assert await refused(world, "TransferKudos", gift(giver.api_key, expired)) == "SharedKeyExpiredInTransfer"
    assert await refused(world, "TransferKudos", gift(giver.api_key, str(uuid4()))) == "InvalidTargetUsername"


async def test_who_may_give_to_whom_in_the_order_of_the_reference(world: AdmissionWorld) -> None:
    giver, taker = await world.account("giver", kudos=100), await world.account("taker")
    assert await refused(world, "TransferKudos", gift("nobody's", taker.username)) == "InvalidAPIKey"
    assert await refused(world, "TransferKudos", gift(ANONYMOUS, taker.username)) == "KudosTransferFromAnon"
    for target in ("nobody", "nobody#", "nobody#4711", "nobody#99999999999", "#-1"):
        assert await refused(world, "TransferKudos", gift(giver.api_key, target)) == "InvalidTargetUsername"
    assert await refused(world, "TransferKudos", gift(giver.api_key, "Anonymous#0")) == "KudosTransferToAnon"
    assert await refused(world, "TransferKudos", gift(giver.api_key, giver.username)) == "KudosTransferToSelf"
    assert await refused(world, "TransferKudos", gift(giver.api_key, taker.username, -1)) == "NegativeKudosTransfer"
    assert await refused(world, "TransferKudos", gift(giver.api_key, taker.username, 0)) == "InvalidKudosTransferAmount"
    suspect = "INSERT INTO admission.user_suspicions (user_id, suspicion_id) VALUES ($1, 5)"
    role = "INSERT INTO admission.user_roles VALUES ($1, $2)"
    # from the last check to the first, so that each is seen before the ones behind it
    for account, number, refusal in (
        (taker, DELETED, "DeletedUserInTransfer"),
        (taker, FLAGGED, "TargetAccountFlagged"),
        (taker, None, "FaultWhenKudosReceiving"),
        (giver, EDUCATION, "EducationCannotSendKudos"),
        (giver, FLAGGED, "SourceAccountFlagged"),
        (giver, None, "FaultWhenKudosSending"),
    ):
        if number is None:
            await world.sql.executemany(suspect, [(account.id,)] * 5)
        else:
            await world.sql.execute(role, account.id, number)
        assert await refused(world, "TransferKudos", gift(giver.api_key, taker.username)) == refusal
    assert await world.count("admission.kudos_transfers") == 0


async def test_a_gift_to_an_account_for_education_is_a_donation(world: AdmissionWorld) -> None:
    giver, school = await world.account("giver", kudos=100), await world.account("school")
    await world.sql.execute("INSERT INTO admission.user_roles VALUES ($1, $2)", school.id, EDUCATION)
    await world.call("TransferKudos", gift(giver.api_key, school.username))
    stats = await world.sql.fetch("SELECT action FROM admission.user_stats ORDER BY user_id")
    assert [row["action"] for row in stats] == ["donated", "received"]


async def test_only_the_first_account_awards(world: AdmissionWorld) -> None:
    first, other = await world.account("first"), await world.account("other")

    def award(key: str, target: str) -> pb.AwardKudosRequest:
        return pb.AwardKudosRequest(api_key=key, target=target, amount_hundredths=500)

    assert (await world.call("AwardKudos", award(first.api_key, other.username))).awarded_hundredths == 500
    assert await refused(world, "AwardKudos", award(other.api_key, first.username)) == "NotPrivileged"
    assert await refused(world, "AwardKudos", award(first.api_key, "Anonymous#0")) == "InvalidTargetUsername"
    assert await check_ledger(world.database.url) == []


async def test_usage_adds_up_what_the_ledger_charged(world: AdmissionWorld) -> None:
    await world.worker()
    payer, other = await world.account("payer", kudos=1000), await world.account("other")
    key = await world.lend(payer.id)
    for through in (payer.api_key, payer.api_key, key):
        await world.admit(chat(), key=through)
    asked = pb.GetUsageRequest(api_key=payer.api_key, account_id=payer.id, days=30)
    # a day may end meanwhile: then there are two of each
    days = (await world.call("GetUsage", asked)).days
    own, lent = [[day for day in days if day.HasField("shared_key") is through_key] for through_key in (False, True)]
    assert {(day.model, day.generations, day.tokens) for day in own} == {(MODEL, 0, 0)}
    assert {day.shared_key for day in lent} == {key}
    assert [sum(day.requests for day in through) for through in (own, lent)] == [2, 1]
    charged = await world.sql.fetchval(
        "SELECT -sum(amount) FROM admission.kudos_ledger WHERE user_id = $1 AND entry_type = 'ACTIVATION_TAX'", payer.id
    )
    assert sum(day.kudos_hundredths for day in days) == charged
    asked.shared_key = key
    assert list((await world.call("GetUsage", asked)).days) == lent
    for stranger, refusal in (
        (other.api_key, "NotPrivileged"),
        (ANONYMOUS, "NotPrivileged"),
        ("nobody's", "InvalidAPIKey"),
    ):
        asked.api_key = stranger
        assert await refused(world, "GetUsage", asked) == refusal


async def test_usage_counts_a_generation_under_the_model_that_answered(world: AdmissionWorld) -> None:
    owner, payer = await world.account("owner"), await world.account("payer", kudos=1000)
    worker = await world.worker(owner=owner.id)
    request, generation = UUID((await world.admit(chat(max_tokens=80), key=payer.api_key)).request_id), uuid4()
    now = world.clock.now()
    await world.sql.execute(
        "INSERT INTO dispatch.processing_gens (id, wp_id, worker_id, model, created, start_time, job_ttl, lease_cap,"
        " lease_until, worker_trusted) VALUES ($1, $2, $3, 'what answered', $4, $4, 150, 200, $4, false)",
        generation,
        request,
        worker,
        now,
    )
    settle = "SELECT admission.settle_v2($1, 'generation', $2, $3, NULL, $4, 1000, 1000, 100, 80)"
    for _ in range(2):
        await world.sql.execute(settle, generation, request, payer.id, owner.id)
    asked = pb.GetUsageRequest(api_key=payer.api_key, account_id=payer.id, days=2)
    told: dict[str, list[int]] = {}
    for day in (await world.call("GetUsage", asked)).days:
        counted = (day.requests, day.generations, day.tokens, day.kudos_hundredths)
        told[day.model] = [sum(both) for both in zip(told.get(day.model, [0] * 4), counted, strict=True)]
    assert told[MODEL][:2] == [1, 0]
    assert told["what answered"] == [0, 1, 80, 1100]


async def test_the_promotion_queues_hold_exactly_whom_the_loop_would_promote(database: Database) -> None:
    async with admission_world(database, kudos_trust_threshold="100.5") as world:
        week = "UPDATE admission.users SET created = now() - interval '8 days', evaluating_kudos = $2 WHERE id = $1"
        names = {"above": 10_051, "most": 20_000, "at": 10_050, "blocked": 10_051, "trusted": 10_051, "four": 10_051}
        people = {name: await world.account(name, trusted=name == "trusted") for name in names}
        for name, escrow in names.items():
            await world.sql.execute(week, people[name].id, escrow)
        young = await world.account("young")
        await world.sql.execute("UPDATE admission.users SET evaluating_kudos = 10051 WHERE id = $1", young.id)
        for name, count in (("blocked", 5), ("four", 4)):
            suspect = "INSERT INTO admission.user_suspicions (user_id, suspicion_id) VALUES ($1, 5)"
            await world.sql.executemany(suspect, [(people[name].id,)] * count)
        await world.worker(owner=people["most"].id, paused=True)
        queues = await world.call("ListPromotions", pb.ListPromotionsRequest(limit=10))
        assert (queues.threshold_hundredths, queues.suspicion_threshold) == (10_050, 5)
        assert [row.username.partition("#")[0] for row in queues.eligible] == ["most", "above", "four"]
        assert [row.username.partition("#")[0] for row in queues.blocked] == ["blocked"]
        assert [(one.id, one.count) for one in queues.blocked[0].suspicions] == [(5, 5)]
        assert (queues.eligible[0].worker_count, queues.eligible[0].workers_paused) == (1, 1)
        promotable = await world.sql.fetch(
            "SELECT id FROM admission.users WHERE id = ANY ($1)", [row.user_id for row in queues.eligible]
        )
        from services.admission import repo

        assert sorted(await repo.promotable(world.deps.store, 10_050)) == sorted(row["id"] for row in promotable)
        assert len((await world.call("ListPromotions", pb.ListPromotionsRequest(limit=1))).eligible) == 1


async def test_a_queue_takes_accounts_of_seven_days_never_the_anonymous_one_and_the_older_number_first(
    database: Database,
) -> None:
    async with admission_world(database, kudos_trust_threshold=100) as world:
        first, second, young = [await world.account(name) for name in ("first", "second", "young")]
        age = "UPDATE admission.users SET evaluating_kudos = 20000, created = now() - $2::interval WHERE id = $1"
        for account, old in ((second, timedelta(days=7)), (first, timedelta(days=7))):
            await world.sql.execute(age, account.id, old)
        await world.sql.execute(age, young.id, timedelta(days=7) - timedelta(minutes=5))
        await world.sql.execute(
            "UPDATE admission.users SET evaluating_kudos = 30000, created = now() - interval '1 year'"
            " WHERE oauth_id = 'anon'"
        )
        queues = await world.call("ListPromotions", pb.ListPromotionsRequest(limit=10))
        assert [row.user_id for row in queues.eligible] == [first.id, second.id]
        assert queues.eligible[0].account_age_seconds >= 7 * 86_400
        assert not queues.blocked


async def test_without_a_threshold_nobody_is_promoted(world: AdmissionWorld) -> None:
    queues = await world.call("ListPromotions", pb.ListPromotionsRequest(limit=10))
    assert not queues.HasField("threshold_hundredths")
    assert not queues.eligible
