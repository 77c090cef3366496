"""How texts leave their rows: batches, failures, what is recorded of it, and the sweep for what was left behind."""

import hashlib
import json
from collections.abc import AsyncIterator

import pytest

from services.moderation import evidence_repo
from services.moderation.evidence_events import EvidenceEvents
from services.moderation.loops import upload_evidence as uploading
from services.moderation.loops.sweep_orphans import sweep_orphans
from services.moderation.rules.evidence import Path
from tests.fakes.clock import FakeClock
from tests.fakes.evidence import House, house
from tests.servers import Database


@pytest.fixture
async def home(database: Database) -> AsyncIterator[House]:
    async with house(database) as made:
        yield made


async def upload(home: House) -> None:
    await uploading.upload_evidence(home.store, home.evidence, EvidenceEvents(), FakeClock())


async def states(home: House, events: list[int]) -> list[str]:
    return [(await home.row(event))["text_state"] for event in events]


async def test_a_text_moves_into_its_object_and_its_digest_is_that_of_the_bytes(home: House) -> None:
    event = await home.event(prompt="schön \U0001f600 \ud800\x00")
    before = await home.row(event)
    await upload(home)
    body = home.evidence.objects[event]
    row = await home.row(event)
    assert json.loads(body) == {
        "effective_prompt": None,
        "moderation_prompt": "schön \U0001f600 \ufffd\ufffd",
        "submitted_prompt": "schön \U0001f600 \ufffd\ufffd",
    }
    assert row["text_sha256"] == hashlib.sha256(body).hexdigest() == before["text_sha256"]
    assert (row["text_state"], row["submitted_prompt"], row["moderation_prompt"]) == ("stored", None, None)
    assert row["text_chars"] == 2 * len("schön \U0001f600 \ufffd\ufffd")


async def test_a_digest_that_an_older_row_lacks_is_filled_in(home: House) -> None:
    event = await home.event()
    await home.owner.execute("UPDATE moderation.moderation_events SET text_sha256 = NULL, text_chars = NULL")
    await upload(home)
    row = await home.row(event)
    assert row["text_sha256"] == hashlib.sha256(home.evidence.objects[event]).hexdigest()
    assert row["text_chars"] == 10


async def test_the_first_failed_put_ends_the_tick_and_what_was_put_is_stored(home: House) -> None:
    events = [await home.event() for _ in range(4)]
    home.evidence.trouble.puts_left = 2
    await upload(home)
    assert await states(home, events) == ["stored", "stored", "pending", "pending"]
    home.evidence.trouble.puts_left = None
    await upload(home)
    assert await states(home, events) == ["stored"] * 4


async def test_after_a_failed_put_nothing_more_is_tried_in_that_tick(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "BATCH", 2)
    events = [await home.event() for _ in range(5)]
    home.evidence.trouble.puts_left = 2
    await upload(home)
    assert home.evidence.puts == events[:3]


async def test_the_digest_of_the_capture_is_never_made_to_fit_the_object(home: House) -> None:
    event: int = await home.owner.fetchval(
        "INSERT INTO moderation.moderation_events (reason, outcome, submitted_prompt, text_sha256, text_chars)"
        " VALUES ('model_rejection', 'rejected', 'changed', repeat('a', 64), 5) RETURNING id"
    )
    await upload(home)
    row = await home.row(event)
    assert (row["text_state"], row["text_sha256"], row["text_chars"]) == ("stored", "a" * 64, 5)


async def test_a_process_that_dies_after_a_put_puts_it_again(home: House) -> None:
    event = await home.event()

    async def die() -> None:
        raise RuntimeError("the process ends here")

    home.evidence.trouble.after_put = die
    with pytest.raises(RuntimeError):
        await upload(home)
    assert (await home.row(event))["text_state"] == "pending"
    home.evidence.trouble = type(home.evidence.trouble)()
    await upload(home)
    assert (await home.row(event))["text_state"] == "stored"


async def test_a_tick_moves_at_most_ten_batches(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "BATCH", 2)
    events = [await home.event() for _ in range(23)]
    await upload(home)
    assert await states(home, events) == ["stored"] * 20 + ["pending"] * 3
    await upload(home)
    assert await states(home, events) == ["stored"] * 23


async def test_a_half_full_batch_ends_the_tick(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "BATCH", 2)
    first = await home.event()

    async def one_more() -> None:
        home.evidence.trouble = type(home.evidence.trouble)()
        await home.event()

    home.evidence.trouble.after_put = one_more
    await upload(home)
    assert set(home.evidence.objects) == {first}


async def test_without_a_store_texts_stay_in_their_rows(database: Database) -> None:
    async with house(database, configured=False) as home:
        event = await home.event()
        await upload(home)
        assert (await home.row(event))["submitted_prompt"] == "words"
        assert home.evidence.link(event) is None
        assert home.evidence.missing == ("R2_EVIDENCE_ACCOUNT",)


async def test_a_pending_text_that_retention_cleared_needs_no_upload(home: House) -> None:
    event = await home.event(8)
    await home.tick(text_days=7)
    await upload(home)
    assert (await home.row(event))["text_state"] == "none"
    assert home.evidence.objects == {}


async def test_the_sweep_deletes_what_has_no_text_and_leaves_what_has_no_row(home: House) -> None:
    kept, pending, orphan = await home.event(), await home.event(), await home.event(8)
    await home.tick(text_days=7)
    home.evidence.trouble.puts_left = 1
    await upload(home)
    home.evidence.objects |= {pending: b"put before a crash", orphan: b"late", 999_999: b"of nobody"}
    await sweep_orphans(home.store, home.evidence, EvidenceEvents())
    assert set(home.evidence.objects) == {kept, pending, 999_999}


async def test_how_things_stand_is_seen_without_counting_tables(home: House) -> None:
    for reason, origin in ((Path.FILTER, "1.2.3.4"), (Path.MODEL, "1.2.3.4"), (Path.MODEL, "unknown")):
        await home.event(reason=reason, origin=origin)
    await home.event(1)
    now = await evidence_repo.standing(home.store)
    assert (now.pending, now.subjects) == (4, 1)
    assert now.recent == {"filter_rejection": 1, "model_rejection": 2}
    assert now.oldest.days == 1
    assert "moderation_events" in now.table_rows


async def test_an_object_is_called_stored_once_and_of_a_pending_row_alone(home: House) -> None:
    stored, cleared = await home.event(), await home.event(8)
    await home.tick(text_days=7)
    await upload(home)
    for event in (stored, cleared):
        query = "SELECT xmin::text FROM moderation.moderation_events WHERE id = $1"
        put = evidence_repo.PutText(event, await home.owner.fetchval(query, event), "a" * 64, 1)
        before = await home.row(event)
        assert await evidence_repo.store_texts(home.store, [put]) == set()
        assert await home.row(event) == before
