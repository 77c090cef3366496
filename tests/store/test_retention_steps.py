"""Each step of retention on a real database: what it clears, when, how much at once, and what it leaves alone."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from horde.contract.retention import RetentionPolicy
from services.admission import accounts_repo
from services.moderation import retention, retention_repo
from services.moderation.rules.fates import Fate, Step, cleared_by, columns_of
from tests.fakes.evidence import House, house
from tests.servers import Database

DAY = timedelta(days=1)
TEXT_GONE = {"text_state": "none", "text_redacted": True} | dict.fromkeys(columns_of(Fate.TEXT)[:3])


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> int:
    """Batches of three, so that a test can fill them."""
    monkeypatch.setattr(retention, "BATCH", 3)
    return 3


async def stored(home: House, event: int) -> None:
    """As the upload leaves it."""
    await home.owner.execute(
        "UPDATE moderation.moderation_events SET submitted_prompt = NULL, moderation_prompt = NULL,"
        " effective_prompt = NULL, text_state = 'stored' WHERE id = $1",
        event,
    )
    home.evidence.objects[event] = b"{}"


def of(row: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: row[name] for name in names}


async def test_the_text_step_clears_the_text_and_nothing_else(home: House) -> None:
    event = await home.reported(8)
    before = await home.row(event)
    await home.tick(text_days=7)
    after = await home.row(event)
    assert of(after, columns_of(Fate.TEXT)) == dict.fromkeys(columns_of(Fate.TEXT)) | {"text_state": "none"}
    assert of(after, columns_of(Fate.FLAG)) == {"text_redacted": True, "ipaddr_redacted": False, "anonymized": False}
    same = set(before) - set(columns_of(Fate.TEXT)) - set(columns_of(Fate.FLAG))
    assert of(after, same) == of(before, same)


async def test_the_address_step_leaves_the_pseudonym(home: House) -> None:
    keyed, unkeyed = await home.event(31), await home.reported(31)
    await home.tick()
    row = await home.row(keyed)
    assert (row["ipaddr"], row["ipaddr_redacted"], row["text_redacted"]) == (None, True, False)
    assert row["ip_subject_key"] is not None
    assert row["submitted_prompt"] == "words"
    other = await home.row(unkeyed)
    assert (other["origin_text"], other["ipaddr_redacted"], other["user_id"]) == (None, True, 7)


async def test_the_ceiling_leaves_only_what_is_of_nobody(home: House) -> None:
    event = await home.reported(366)
    await home.owner.execute(
        "INSERT INTO moderation.moderation_event_marks (event_id, moderator_id, mark) VALUES ($1, 1, 'seen')", event
    )
    before = await home.row(event)
    await home.tick()
    after = await home.row(event)
    assert of(after, cleared_by(Step.CEILING)) == dict.fromkeys(cleared_by(Step.CEILING)) | {"text_state": "none"}
    assert all(after[flag] for flag in columns_of(Fate.FLAG))
    assert of(after, columns_of(Fate.KEEP)) == of(before, columns_of(Fate.KEEP))
    assert await home.owner.fetchval("SELECT count(*) FROM moderation.moderation_event_marks") == 0


async def test_flags_are_set_even_where_there_was_nothing_to_remove(home: House) -> None:
    event = await home.event(8, origin="")
    await home.owner.execute(
        "UPDATE moderation.moderation_events SET submitted_prompt = NULL, moderation_prompt = NULL,"
        " text_state = 'none', text_sha256 = NULL, text_chars = NULL WHERE id = $1",
        event,
    )
    await home.tick(text_days=7, ipaddr_days=7)
    row = await home.row(event)
    assert (row["text_redacted"], row["ipaddr_redacted"]) == (True, True)


@pytest.mark.parametrize(("seconds", "is_gone"), [(1, True), (-5, False)])
async def test_a_value_goes_on_the_second_and_not_before(home: House, seconds: int, is_gone: bool) -> None:
    event = await home.event()
    await home.grow_older(30 * DAY + timedelta(seconds=seconds), event)
    await home.tick()
    assert (await home.row(event))["ipaddr_redacted"] is is_gone


async def test_without_a_window_text_and_address_stay_until_the_ceiling(home: House) -> None:
    young, old = await home.event(364), await home.event(366)
    await home.tick(text_days=None, ipaddr_days=None)
    assert (await home.row(young))["submitted_prompt"] == "words"
    assert (await home.row(young))["ipaddr"] is not None
    assert (await home.row(old))["anonymized"]


async def test_a_second_tick_changes_nothing(home: House) -> None:
    events = [await home.event(age) for age in (8, 31, 400)]
    await home.tick(text_days=7)
    version = "SELECT id, xmin::text FROM moderation.moderation_events ORDER BY id"
    first = await home.owner.fetch(version)
    await home.tick(text_days=7)
    assert await home.owner.fetch(version) == first
    assert len(first) == len(events)


@pytest.mark.parametrize(
    ("standing", "is_held"),
    [
        ({"flagged": True}, True),
        ({"flagged": True, "trusted": True}, True),
        ({"suspicions": 5}, True),
        ({"suspicions": 4}, False),
        ({"suspicions": 5, "trusted": True}, False),
        ({}, False),
    ],
)
async def test_an_accounts_standing_holds_everything_it_left(
    home: House, standing: dict[str, Any], is_held: bool
) -> None:
    await home.account(7, **standing)
    event = await home.event(400)
    await home.problem_job(400)
    await home.suspicion(400)
    await home.tick(text_days=1, worker_suspicion_days=1)
    row = await home.row(event)
    assert (row["text_redacted"], row["ipaddr_redacted"], row["anonymized"]) == (not is_held,) * 3
    assert await counts(home) == ((1, 1) if is_held else (0, 0))
    source = "SELECT moderation.hold_source_v1($1, $2)"
    assert await home.owner.fetchval(source, event, 7) == ("account_status" if is_held else None)


async def test_a_note_holds_its_event_and_wins_over_the_account(home: House) -> None:
    await home.account(7, flagged=True)
    event = await home.event(400)
    await home.note(event)
    await home.tick(text_days=1)
    assert not (await home.row(event))["text_redacted"]
    assert await home.owner.fetchval("SELECT moderation.hold_source_v1($1, 7)", event) == "note"
    await home.account(7)
    await home.tick(text_days=1)
    assert (await home.row(event))["submitted_prompt"] == "words"


async def test_when_a_hold_ends_every_elapsed_window_is_applied(home: House) -> None:
    await home.account(7, suspicions=5)
    event = await home.event(400)
    await home.tick(text_days=1)
    assert not (await home.row(event))["anonymized"]
    await home.account(7)
    await home.tick(text_days=1)
    assert (await home.row(event))["anonymized"]


async def test_the_anonymous_account_is_never_held(home: House) -> None:
    await home.anonymous()
    event = await home.event(400, account_id=0)
    await home.problem_job(400, account_id=0)
    await home.tick()
    assert (await home.row(event))["anonymized"]
    assert await counts(home) == (0, 0)


async def test_whom_a_service_names_holds_nothing_and_a_flagged_service_holds_all_its_users(home: House) -> None:
    await home.account(7, flagged=True)
    await home.account(8)
    names = ("7", "somebody", "somebody#7")
    theirs = [await home.event(400, account_id=8, proxied_account=name) for name in names]
    its = [await home.event(400, account_id=7, proxied_account=name) for name in names]
    await home.tick()
    assert [(await home.row(event))["anonymized"] for event in (*theirs, *its)] == [True] * 3 + [False] * 3


@pytest.mark.parametrize(("standing", "is_held"), [({"flagged": True}, True), ({"suspicions": 5}, True), ({}, False)])
async def test_wiping_an_account_touches_nothing_that_moderation_remembers_and_ends_no_hold(
    database: Database, home: House, standing: dict[str, Any], is_held: bool
) -> None:
    await home.account(7, **standing)
    old, young = await home.event(400), await home.event()
    await home.note(young)
    await home.problem_job(400)
    await home.suspicion(400)
    before = [await home.row(event) for event in (old, young)]
    async with database.store("horde_admission") as admission, admission.transaction() as tx:
        await accounts_repo.wipe(tx, 7)
    assert await home.owner.fetchval("SELECT oauth_id FROM admission.users WHERE id = 7") == "<wiped>7"
    assert [await home.row(event) for event in (old, young)] == before
    assert await counts(home) == (1, 1)
    assert await home.owner.fetchval("SELECT count(*) FROM moderation.moderation_event_notes") == 1
    await home.tick()
    assert (await home.row(old))["user_id"] == (7 if is_held else None)
    assert (await counts(home))[0] == is_held


async def test_the_standing_that_holds_is_the_one_that_accounts_have(home: House) -> None:
    """Two views of admission's tell it: one of each account, one of all that are restricted."""
    await home.anonymous()
    number = 100
    for suspicions in (0, 4, 5, 6):
        for flagged in (False, True):
            for trusted in (False, True):
                number += 1
                await home.account(number, suspicions=suspicions, flagged=flagged, trusted=trusted)
    either = (
        "SELECT id FROM admission.account_standing"
        " WHERE NOT anonymous AND (flagged OR (suspicion_count >= 5 AND NOT trusted)) ORDER BY 1"
    )
    held = await home.owner.fetch(either)
    assert held == await home.owner.fetch("SELECT user_id AS id FROM admission.restricted_accounts ORDER BY 1")
    assert len(held) == 10
    for row in held:
        assert await home.owner.fetchval("SELECT moderation.account_restricted_v1($1)", row["id"])


async def test_a_note_on_an_anonymized_event_keeps_it_as_it_is(home: House) -> None:
    event = await home.event(400)
    await home.tick()
    await home.note(event)
    before = await home.row(event)
    await home.tick(text_days=1)
    assert await home.row(event) == before


# problem jobs, suspicions, the access log --------------------------------------------------------------------------


async def counts(home: House) -> tuple[int, int]:
    jobs = await home.owner.fetchval("SELECT count(*) FROM moderation.user_problem_jobs")
    return jobs, await home.owner.fetchval("SELECT count(*) FROM moderation.worker_suspicion_events")


async def test_problem_jobs_lose_their_addresses_and_go_at_the_ceiling(home: House) -> None:
    for age in (29, 31, 366):
        await home.problem_job(age)
    await home.problem_job(31, ipaddr=None)
    await home.tick()
    rows = await home.owner.fetch("SELECT ipaddr, origin_text FROM moderation.user_problem_jobs ORDER BY created")
    assert [tuple(row) for row in rows] == [(None, None), (None, None), ("1.2.3.4", None)]


async def test_the_history_of_suspicions_goes_by_its_own_window_or_never(home: House) -> None:
    await home.suspicion(4000)
    await home.suspicion(9)
    await home.tick()
    assert (await counts(home))[1] == 2
    await home.tick(worker_suspicion_days=10)
    assert (await counts(home))[1] == 1


async def test_the_access_log_goes_whoever_it_is_of(home: House) -> None:
    await home.account(7, flagged=True)
    for age in (364, 366):
        await home.access(age, moderator_id=7)
    await home.tick()
    assert await home.owner.fetchval("SELECT count(*) FROM moderation.moderation_access_log") == 1


# batches and the store ---------------------------------------------------------------------------------------------


async def test_a_tick_drains_full_batches_and_stops_at_twenty(home: House, small_batches: int) -> None:
    events = [await home.event(31) for _ in range(20 * small_batches + 2)]
    await home.tick()
    left = [event for event in events if not (await home.row(event))["ipaddr_redacted"]]
    assert left == events[-2:]
    await home.tick()
    assert (await home.row(events[-1]))["ipaddr_redacted"]


async def test_stored_texts_lose_their_objects_first_in_one_bulk_call(home: House) -> None:
    events = [await home.event(8) for _ in range(3)]
    for event in events[:2]:
        await stored(home, event)
    await home.tick(text_days=7)
    assert home.evidence.objects == {}
    assert home.evidence.deletes == [3]
    assert [of(await home.row(event), TEXT_GONE) for event in events] == [TEXT_GONE] * 3


@pytest.mark.parametrize("window", [{"text_days": 7}, {"ceiling_days": 7, "ipaddr_days": 7}])
async def test_while_the_store_is_away_only_stored_texts_wait(
    home: House, small_batches: int, window: dict[str, int]
) -> None:
    waiting = [await home.event(9) for _ in range(small_batches + 1)]
    for event in waiting:
        await stored(home, event)
    inline = await home.event(8)
    home.evidence.trouble.away = True
    await home.tick(**window)
    assert (await home.row(inline))["text_redacted"]
    assert not any([(await home.row(event))["text_redacted"] for event in waiting])
    home.evidence.trouble.away = False
    await home.tick(**window)
    assert all([(await home.row(event))["text_redacted"] for event in waiting])
    assert home.evidence.objects == {}


async def test_objects_that_cannot_be_deleted_never_starve_the_rest(home: House, small_batches: int) -> None:
    stubborn = [await home.event(9) for _ in range(small_batches)]
    later = [await home.event(8) for _ in range(2)]
    for event in (*stubborn, *later):
        await stored(home, event)
    home.evidence.trouble.stubborn = set(stubborn)
    await home.tick(text_days=7)
    assert all([(await home.row(event))["text_redacted"] for event in later])
    assert [(await home.row(event))["text_state"] for event in stubborn] == ["stored"] * small_batches
    assert set(home.evidence.objects) == set(stubborn)


async def test_held_events_at_the_head_do_not_starve_the_rest(home: House, small_batches: int) -> None:
    await home.account(8, flagged=True)
    for _ in range(3 * small_batches):
        await home.event(40, account_id=8)
    event = await home.event(31)
    await home.tick()
    assert (await home.row(event))["ipaddr_redacted"]


async def test_without_a_store_stored_texts_wait_and_all_else_proceeds(database: Database) -> None:
    async with house(database, configured=False) as home:
        old, inline = await home.event(9), await home.event(8)
        await stored(home, old)
        await home.tick(text_days=7)
        assert (await home.row(old))["text_state"] == "stored"
        assert (await home.row(inline))["text_redacted"]
        policy = RetentionPolicy(text_days=7)
        assert await retention_repo.waiting_for_store(home.store, policy) == 1
