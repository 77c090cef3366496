import asyncio
from datetime import timedelta
from typing import Any

import pytest

from horde.contract.refusal import Refusal
from horde.store.listening import ADDRESS_STANDINGS
from horde_pb.dispatch.v1 import workers_pb2
from tests.fakes.dispatch_pops import Pops, chat_declaration
from tests.fakes.dispatch_world import MODEL
from tests.fakes.patience import until

LIMITS = workers_pb2.ChatLimits(max_context_length=4096, max_length=512)


async def age(pops: Pops, name: str = "worker", *, created: int = 3600, checked_in: int = 0) -> None:
    """Makes a worker look as if it was created, and last seen, so many seconds ago."""
    await pops.world.run(
        """UPDATE dispatch.workers SET created = now() - $2::interval, last_check_in = now() - $3::interval
           WHERE name = $1""",
        name,
        timedelta(seconds=created),
        timedelta(seconds=checked_in),
    )


async def test_the_declaration_is_stored_at_the_first_pop(pops: Pops) -> None:
    limits = workers_pb2.ChatLimits(max_context_length=8192, max_length=700, tools_max_temperature=0.8)
    chat = chat_declaration(
        chat_features=["tools", "seed", "no such feature"],
        chat_limits=limits,
        image_transports=["url", "carrier pigeon", "messages_url"],
        prompt_jobs=False,
    )

    await pops.pop(owner := await pops.world.account(), threads=3, chat=chat)

    row = await pops.world.worker("worker")
    assert (row["user_id"], row["ipaddr"], row["threads"], row["models"]) == (owner.id, "203.0.113.7", 3, [MODEL])
    assert (row["max_length"], row["max_context_length"], row["validated_backend"]) == (1024, 4096, True)
    assert (row["accepts_chat_jobs"], row["accepts_prompt_jobs"], row["chat_model_id"]) == (True, False, MODEL)
    assert (row["chat_features"], row["image_transports"]) == (["seed", "tools"], ["messages_url", "url"])
    assert (row["chat_max_context_length"], row["chat_max_length"], row["chat_tools_max_temperature"]) == (
        8192,
        700,
        0.8,
    )


async def test_inside_the_window_only_the_chat_declaration_is_written(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await age(pops, checked_in=10)

    await pops.pop(owner, max_length=333, chat=chat_declaration(chat_limits=LIMITS))

    row = await pops.world.worker("worker")
    assert (row["max_length"], row["chat_max_length"]) == (1024, 512)


async def test_a_length_of_zero_is_declared_as_such(pops: Pops) -> None:
    await pops.pop(await pops.world.account(), max_length=0, max_context_length=0, chat=None)
    row = await pops.world.worker("worker")
    assert (row["max_length"], row["max_context_length"]) == (0, 0)


async def test_a_plain_pop_withdraws_the_whole_declaration_at_once(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await age(pops, checked_in=10)

    await pops.pop(owner, chat=None)

    row = await pops.world.worker("worker")
    assert (row["accepts_chat_jobs"], row["accepts_prompt_jobs"], row["chat_model_id"]) == (False, True, None)
    assert (row["chat_features"], row["image_transports"], row["chat_max_length"]) == ([], [], None)


async def test_an_unchanged_pop_inside_the_window_writes_nothing(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await age(pops, checked_in=10)
    before = await pops.world.value("SELECT xmin::text FROM dispatch.workers")

    await pops.pop(owner)

    assert await pops.world.value("SELECT xmin::text FROM dispatch.workers") == before


async def test_a_due_check_in_writes_everything_and_counts_the_uptime(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await age(pops, checked_in=40)

    await pops.pop(owner, max_length=333, address="203.0.113.9")

    row = await pops.world.worker("worker")
    assert (row["max_length"], row["ipaddr"]) == (333, "203.0.113.9")
    assert row["uptime"] == pytest.approx(40, abs=1)


async def test_time_away_is_no_uptime(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner)
    await age(pops, checked_in=301)

    await pops.pop(owner)

    assert (await pops.world.worker("worker"))["uptime"] == 0


async def test_ten_minutes_of_uptime_are_rewarded_once(pops: Pops) -> None:
    owner = await pops.world.account("owner", 1, kudos=0)
    await pops.pop(owner)
    await pops.world.change_worker("worker", uptime=590)
    await age(pops, checked_in=40)

    await asyncio.gather(*(pops.pop(owner) for _ in range(4)))

    row = await pops.world.worker("worker")
    earned = round((25 + 15 * 4096 / 1024) * 0.25 * 100)
    assert row["uptime"] == row["last_reward_uptime"] == pytest.approx(630, abs=2)
    assert await pops.world.value("SELECT kudos FROM admission.users WHERE id = $1", owner.id) == earned
    assert row["kudos"] == earned
    assert await pops.world.value("SELECT value FROM dispatch.worker_stats WHERE action = 'uptime'") == earned
    assert await pops.world.value("SELECT sum(amount) FROM admission.kudos_ledger") == 0


async def test_an_unknown_key_is_refused(pops: Pops) -> None:
    owner = await pops.world.account()
    stranger = type(owner)(owner.id, "no such key", owner.alias)

    assert (await pops.refused(stranger)).reason.key == "InvalidAPIKey"


@pytest.mark.parametrize(("role", "reason"), [(3, "WorkerFlaggedMaintenance"), (9, "DeletedUser")])
async def test_a_flagged_or_deleted_account_gets_no_jobs(pops: Pops, role: int, reason: str) -> None:
    assert (await pops.refused(await pops.world.account("bad", role))).reason.key == reason


async def test_the_anonymous_account_runs_no_workers(pops: Pops) -> None:
    assert (await pops.refused(await pops.world.anonymous())).reason.key == "AnonForbiddenWorker"


async def test_a_worker_of_somebody_else_is_refused(pops: Pops) -> None:
    await pops.pop(await pops.world.account("first"))

    assert (await pops.refused(await pops.world.account("second"))).reason.key == "WrongCredentials"


async def test_two_first_pops_of_one_name_make_one_worker(pops: Pops) -> None:
    owner = await pops.world.account()

    await asyncio.gather(*(pops.pop(owner) for _ in range(5)))

    assert await pops.world.value("SELECT count(*) FROM dispatch.workers") == 1


async def test_an_untrusted_account_may_have_three_workers(pops: Pops) -> None:
    owner = await pops.world.account()
    for number in range(3):
        await pops.pop(owner, f"worker {number}")

    assert (await pops.refused(owner, "one more")).reason.key == "TooManyWorkers"
    assert await pops.world.value("SELECT count(*) FROM dispatch.workers") == 3


async def test_a_trusted_account_may_have_twenty_workers(pops: Pops) -> None:
    owner = await pops.world.account("trusted", 1)
    for number in range(20):
        await pops.pop(owner, f"worker {number}")

    assert (await pops.refused(owner, "one more")).reason.key == "TooManyWorkersTrusted"


async def test_new_workers_need_an_invitation_when_the_mode_says_so(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.world.run("UPDATE moderation.settings SET invite_only = true")

    assert (await pops.refused(owner)).reason.key == "WorkerInviteOnly"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"models": []}, "BadRequest"),
        ({"models": ["mine::somebody#99"], "chat": None}, "BadRequest"),
        ({"priority_usernames": ["nobody"]}, "InvalidPriorityUsername"),
        ({"priority_usernames": ["nobody#"]}, "InvalidPriorityUsername"),
        ({"chat": chat_declaration(chat_limits=None)}, "ChatDeclarationInvalid"),
        ({"chat": chat_declaration(model_id=None)}, "ChatDeclarationInvalid"),
        ({"chat": chat_declaration(model_id="not listed")}, "ChatDeclarationInvalid"),
        (
            {"models": [f"m{n}" for n in range(201)], "chat": chat_declaration(model_id="m200")},
            "ChatDeclarationInvalid",
        ),
        (
            {"chat": chat_declaration(chat_limits=workers_pb2.ChatLimits(tools_max_temperature=-0.1))},
            "ChatDeclarationInvalid",
        ),
        ({"chat": workers_pb2.ChatDeclaration(prompt_jobs=False)}, "ChatDeclarationInvalid"),
        ({"models": ["a\0b"], "chat": None}, "NulByteInPayload"),
    ],
)
async def test_a_wrong_declaration_is_refused(pops: Pops, fields: dict[str, Any], reason: str) -> None:
    assert (await pops.refused(await pops.world.account(), **fields)).reason.key == reason


@pytest.mark.parametrize("name", ["My Colab box", "TPU", "google-1"])
async def test_names_of_rented_machines_are_refused(pops: Pops, name: str) -> None:
    assert (await pops.refused(await pops.world.account(), name)).reason.key == "BadRequest"


async def test_an_address_in_timeout_is_refused(pops: Pops) -> None:
    pops.moderation.timeouts["203.0.113.66"] = 90

    refusal = await pops.refused(await pops.world.account(), address="203.0.113.66")

    assert refusal.reason.key == "TimeoutIP"
    assert "90 seconds" in refusal.message
    assert await pops.world.value("SELECT count(*) FROM dispatch.workers") == 0


async def test_an_address_that_was_let_in_a_moment_ago_is_refused_once_moderation_tells_of_a_change(pops: Pops) -> None:
    owner = await pops.world.account()
    await pops.pop(owner, address="203.0.113.66")
    pops.moderation.timeouts["203.0.113.66"] = 90
    await pops.pop(owner, address="203.0.113.66")

    async def is_refused() -> bool:
        try:
            await pops.pop(owner, address="203.0.113.66")
        except Refusal as refusal:
            return refusal.reason.key == "TimeoutIP"
        return False

    await pops.world.run("SELECT pg_notify($1, '')", ADDRESS_STANDINGS)
    await until(is_refused, 3)  # what is not told is remembered for 5


async def test_a_worker_is_let_in_while_moderation_is_down(pops: Pops) -> None:
    pops.moderation.is_down = True

    await pops.pop(await pops.world.account())
