"""Accounts as everybody, their holders, moderators and administrators see and change them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from horde.cli.admin import CreatedAccount, check_ledger
from horde.contract.refusal import Refusal
from horde_pb.admission.v1 import account_details_pb2 as pb
from horde_pb.admission.v1 import accounts_service_pb2 as service_pb
from tests.fakes.admission_world import AdmissionWorld, admission_world, chat
from tests.servers import Database

ANONYMOUS = "0000000000"


@dataclass
class People:
    """A world with an administrator, a moderator and somebody."""

    world: AdmissionWorld
    boss: CreatedAccount
    mod: CreatedAccount
    some: CreatedAccount

    async def change(self, key: str, account: int, **fields: Any) -> pb.UpdateAccountResponse:
        request = pb.UpdateAccountRequest(api_key=key, account_id=account, **fields)
        answer: pb.UpdateAccountResponse = await self.world.call("UpdateAccount", request)
        return answer

    async def show(self, account: int | None, key: str = "") -> pb.GetAccountResponse:
        answer: pb.GetAccountResponse = await self.world.call(
            "GetAccount", pb.GetAccountRequest(api_key=key, account_id=account)
        )
        return answer

    async def delete(self, key: str, account: int) -> bool:
        answer = await self.world.call("DeleteAccount", pb.DeleteAccountRequest(api_key=key, account_id=account))
        return bool(answer.wiped)


@pytest.fixture
async def people(database: Database) -> Any:
    async with admission_world(database, admins=("boss#1",)) as world:
        boss = await world.account("boss")
        assert boss.username == "boss#1"
        yield People(world, boss, await world.account("mod", moderator=True), await world.account("some", kudos=100))


async def test_everybody_sees_public_details_the_holder_and_moderators_more(people: People) -> None:
    await people.world.worker(owner=people.some.id)
    public = (await people.show(people.some.id)).account
    assert (public.username, public.kudos_hundredths, public.worker_count) == (people.some.username, 10_000, 1)
    assert not public.worker_ids
    assert not public.HasField("own")
    own = (await people.show(people.some.id, people.some.api_key)).account
    assert own.HasField("own")
    assert not own.HasField("file")
    assert len(own.worker_ids) == 1
    seen = (await people.show(people.some.id, people.mod.api_key)).account
    assert seen.HasField("own")
    assert seen.HasField("file")
    other = (await people.show(people.mod.id, people.some.api_key)).account
    assert not other.HasField("own")


async def test_whoever_asks_whose_key_it_is_learns_that_an_administrator_may_do_what_moderators_may(
    people: People,
) -> None:
    told = [(await people.world.find(one.api_key)).moderator for one in (people.boss, people.mod, people.some)]
    assert told == [True, True, False]


async def test_a_key_finds_its_account_and_a_shared_key_its_owners_public_details(people: People) -> None:
    found = await people.show(None, people.mod.api_key)
    assert found.account.HasField("own")
    assert not found.account.HasField("file")
    key = await people.world.lend(people.some.id, name="friends")
    through = await people.show(None, key)
    assert (through.account.id, through.sharedkey_name) == (people.some.id, "friends")
    assert not through.account.HasField("own")
    everybodys = await people.show(None, ANONYMOUS)
    assert everybodys.account.anonymous
    assert not everybodys.account.HasField("own")
    for account, key in ((None, "nobody's"), (people.some.id, "nobody's")):
        with pytest.raises(Refusal, check=lambda refusal: refusal.reason.key == "InvalidAPIKey"):
            await people.show(account, key)
    with pytest.raises(Refusal, check=lambda refusal: refusal.reason.key == "UserNotFound"):
        await people.show(4711)


async def test_the_holder_sees_their_requests(people: People) -> None:
    await people.world.worker()
    admitted = await people.world.admit(chat(), key=people.some.api_key)
    own = (await people.show(people.some.id, people.some.api_key)).account.own
    assert list(own.active_text_requests) == [admitted.request_id]


async def test_requests_sent_with_a_key_that_an_account_lends_are_nobody_elses_to_see(people: People) -> None:
    await people.world.worker()
    own = await people.world.admit(chat(), key=people.some.api_key)
    await people.world.admit(chat(), key=await people.world.lend(people.some.id, name="friends", kudos=-100))
    for account, viewer in ((None, people.some), (people.some.id, people.some), (people.some.id, people.mod)):
        shown = (await people.show(account, viewer.api_key)).account.own
        assert list(shown.active_text_requests) == [own.request_id]


BY_ADMIN: list[dict[str, Any]] = [
    {"kudos_hundredths": 100},
    {"monthly_kudos": 10},
    {"usage_multiplier": 2.0},
    {"moderator": True},
]
BY_MODERATOR: list[dict[str, Any]] = [
    {"concurrency": 10},
    {"worker_invited": 2},
    {"trusted": True},
    {"flagged": True},
    {"customizer": True},
    {"vpn": True},
    {"service": True},
    {"education": True},
    {"special": True},
    {"reset_suspicion": True},
    {"admin_comment": "hm"},
]
BY_SELF: list[dict[str, Any]] = [{"public_workers": True}, {"username": "changed"}, {"contact": "a@b.example"}]


@pytest.mark.parametrize("change", [*BY_ADMIN, *BY_MODERATOR, *BY_SELF], ids=lambda change: next(iter(change)))
async def test_each_field_may_be_changed_by_those_of_the_table_alone(people: People, change: dict[str, Any]) -> None:
    target = await people.world.account("target")
    for caller, refusal in (
        (
            people.some,
            "NotAdmin" if change in BY_ADMIN else "NotModerator" if change in BY_MODERATOR else "NotPrivileged",
        ),
        (target, "NotAdmin" if change in BY_ADMIN else "NotModerator" if change in BY_MODERATOR else None),
        (people.mod, "NotAdmin" if change in BY_ADMIN else None),
        (people.boss, None),
    ):
        if refusal is None:
            assert (await people.change(caller.api_key, target.id, **change)).ListFields()
        else:
            with pytest.raises(Refusal) as caught:
                await people.change(caller.api_key, target.id, **change)
            assert caught.value.reason.key == refusal


async def test_one_field_that_is_not_allowed_refuses_them_all(people: People) -> None:
    with pytest.raises(Refusal) as caught:
        await people.change(people.some.api_key, people.some.id, public_workers=True, trusted=True)
    assert caught.value.reason.key == "NotModerator"
    assert not (await people.show(people.some.id)).account.public_workers


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({}, "NoUserModSelected"),
        ({"undelete": False}, "NoUserModSelected"),
        ({"undelete": True}, "UserNotDeleted"),
        ({"username": "x" * 31}, "TooLongUserName"),
        ({"username": "some shithead"}, "ProfaneUserName"),
        ({"contact": "fuck@example.org"}, "ProfaneUserContact"),
        ({"generate_proxy_passkey": True}, "NonServiceForbidden"),
    ],
)
async def test_what_a_holder_cannot_do(people: People, fields: dict[str, Any], refusal: str) -> None:
    with pytest.raises(Refusal) as caught:
        await people.change(people.some.api_key, people.some.id, **fields)
    assert caught.value.reason.key == refusal


async def test_nobody_changes_the_anonymous_account_and_it_changes_nobody(people: People) -> None:
    for key, account in ((ANONYMOUS, people.some.id), (people.boss.api_key, 0), (ANONYMOUS, 0)):
        with pytest.raises(Refusal) as caught:
            await people.change(key, account, username="changed")
        assert caught.value.reason.key == "AnonForbiddenUserMod"
    with pytest.raises(Refusal) as caught:
        await people.change(people.boss.api_key, 4711, username="changed")
    assert caught.value.reason.key == "UserNotFound"


async def test_the_answer_names_what_was_changed_and_roles_bring_their_effects(people: People) -> None:
    sql = people.world.sql
    paused = await people.world.worker(owner=people.some.id, paused=True)
    await sql.execute("UPDATE admission.users SET evaluating_kudos = 500 WHERE id = $1", people.some.id)
    await sql.execute("INSERT INTO admission.user_suspicions (user_id, suspicion_id) VALUES ($1, 8)", people.some.id)
    await sql.execute("INSERT INTO dispatch.worker_suspicions (worker_id, suspicion_id) VALUES ($1, 5)", paused)
    changed = await people.change(
        people.boss.api_key, people.some.id, kudos_hundredths=5000, moderator=True, reset_suspicion=True, education=True
    )
    assert {field.name for field, _ in changed.ListFields()} == {
        "new_kudos_hundredths",
        "moderator",
        "trusted",
        "new_suspicion",
        "education",
        "concurrency",
    }
    assert (changed.new_kudos_hundredths, changed.new_suspicion, changed.concurrency) == (15_500, 0, 200)
    assert not await sql.fetchval("SELECT paused FROM dispatch.workers WHERE id = $1", paused)
    assert not await sql.fetchval("SELECT count(*) FROM dispatch.worker_suspicions")
    assert (await people.change(people.boss.api_key, people.some.id, education=False)).concurrency == 30
    named = await people.change(people.some.api_key, people.some.id, username="renamed")
    assert named.username == f"renamed#{people.some.id}"


async def test_monthly_kudos_begin_now(people: People) -> None:
    changed = await people.change(people.boss.api_key, people.some.id, monthly_kudos=50)
    assert changed.monthly_kudos == 50
    told = (await people.show(people.some.id, people.mod.api_key)).account
    assert (told.kudos_hundredths, told.kudos_details["recurring"]) == (15_000, 5_000)
    assert told.file.HasField("monthly_kudos_last_received")
    assert (await people.change(people.boss.api_key, people.some.id, monthly_kudos=25)).monthly_kudos == 75
    most = 2**31 - 1
    assert (await people.change(people.boss.api_key, people.some.id, monthly_kudos=most)).monthly_kudos == most
    assert (await people.change(people.boss.api_key, people.some.id, monthly_kudos=-most)).monthly_kudos == 0
    assert (await people.show(people.some.id)).account.kudos_hundredths == 15_000


async def test_a_service_gets_a_passkey(people: People) -> None:
    service = await people.world.account("front", service=True)
    passkey = (await people.change(service.api_key, service.id, generate_proxy_passkey=True)).proxy_passkey
    assert len(passkey) == 22
    assert (await people.show(service.id, people.mod.api_key)).account.file.proxy_passkey == passkey


async def test_an_account_is_marked_first_and_wiped_after_it_rested(people: People) -> None:
    world = people.world
    await world.worker(owner=people.some.id)
    await world.lend(people.some.id)
    assert not await people.delete(people.some.api_key, people.some.id)
    assert (await people.show(people.some.id)).account.deleted
    with pytest.raises(Refusal) as caught:
        await people.delete(people.some.api_key, people.some.id)
    assert caught.value.reason.key == "CannotWipeActiveUser"
    assert (await people.change(people.some.api_key, people.some.id, undelete=True)).undeleted
    assert not await people.delete(people.mod.api_key, people.some.id)
    rested = world.clock.now() - timedelta(days=31)
    await world.sql.execute("UPDATE admission.users SET last_active = $2 WHERE id = $1", people.some.id, rested)
    assert await people.delete(people.some.api_key, people.some.id)
    row = await world.sql.fetchrow("SELECT * FROM admission.users WHERE id = $1", people.some.id)
    assert row is not None
    assert (row["username"], row["contact"]) == ("<wiped>", "<wiped>")
    assert row["oauth_id"].startswith("<wiped>")
    assert await world.count("admission.user_sharedkeys") == 0
    assert await world.sql.fetchval("SELECT count(*) FROM dispatch.workers WHERE user_id = $1", people.some.id) == 0
    for key in (people.some.api_key, people.mod.api_key):
        with pytest.raises(Refusal) as caught:
            await people.delete(key, people.some.id)
        assert caught.value.reason.key == ("InvalidAPIKey" if key == people.some.api_key else "UserNotFound")
    assert await check_ledger(world.database.url) == []


async def test_who_may_delete_whom(people: People) -> None:
    other = await people.world.account("other")
    for key, account, refusal in (
        (other.api_key, people.some.id, "NotUserOrMod"),
        (people.mod.api_key, people.mod.id, "CannotDeleteMod"),
        ("nobody's", people.some.id, "InvalidAPIKey"),
        (people.boss.api_key, 4711, "UserNotFound"),
        (people.boss.api_key, 0, "AnonForbiddenUserMod"),
    ):
        with pytest.raises(Refusal) as caught:
            await people.delete(key, account)
        assert caught.value.reason.key == refusal


async def test_accounts_are_listed_by_kudos_or_by_age_in_pages_of_25(people: People) -> None:
    rows = [(f"p{number}", str(uuid4()), f"hash{number}", 50_000 + number) for number in range(30)]
    await people.world.sql.executemany(
        "INSERT INTO admission.users (username, oauth_id, api_key, kudos) VALUES ($1, $2, $3, $4)", rows
    )

    async def page(number: int, *, by_age: bool = False) -> list[str]:
        request = service_pb.ListAccountsRequest(page=number, by_age=by_age)
        return [one.username for one in (await people.world.call("ListAccounts", request)).accounts]

    first, second = await page(1), await page(2)
    assert (len(first), len(second)) == (25, 9)
    assert first[0].startswith("p29#")
    assert (await page(1, by_age=True))[0] == "Anonymous#0"
    assert await page(3) == []
    assert await page(10_001) == []


async def test_an_account_for_tests_is_made_once_and_refreshed_after_that(people: People) -> None:
    async def make(oauth_id: str = "ci_test_user", **facts: Any) -> service_pb.MakeTestAccountResponse:
        wanted = {"username": "test_user", "moderator": True, "trusted": True, "kudos_hundredths": 1_000_000, **facts}
        request = service_pb.MakeTestAccountRequest(oauth_id=oauth_id, **wanted)
        answer: service_pb.MakeTestAccountResponse = await people.world.call("MakeTestAccount", request)
        return answer

    made = await make()
    assert made.created
    assert (made.account.kudos_hundredths, made.account.moderator) == (1_000_000, True)
    again = await make(kudos_hundredths=500_000, moderator=False)
    assert not again.created
    assert again.account.id == made.account.id
    assert (again.account.kudos_hundredths, again.account.moderator) == (500_000, False)
    assert again.api_key != made.api_key
    assert (await people.world.find(again.api_key)).id == made.account.id
    taken = await people.world.sql.fetchval("SELECT oauth_id FROM admission.users WHERE id = $1", people.boss.id)
    for oauth_id in ("anon", taken):
        with pytest.raises(Refusal) as caught:
            await make(oauth_id)
        assert caught.value.reason.key == "Forbidden"
    assert await check_ledger(people.world.database.url) == []
