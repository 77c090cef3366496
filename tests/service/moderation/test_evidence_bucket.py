"""The evidence store on a real S3 server: what is put can be read by its link alone, deleted and listed."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta
from time import monotonic

import boto3
import httpx
import pytest
from botocore.config import Config

from services.moderation.evidence_events import EvidenceEvents
from services.moderation.evidence_store import EvidenceStore, EvidenceUnavailable
from services.moderation.loops.sweep_orphans import sweep_orphans
from services.moderation.loops.upload_evidence import upload_evidence
from services.moderation.settings import ModerationServiceSettings
from tests.fakes.clock import FakeClock
from tests.fakes.evidence import House, house
from tests.fakes.trapped_store import TrappedStore
from tests.servers import Database, ObjectStore

GONE = "<DeleteResult></DeleteResult>"
ODD_ONES = ((1, "NoSuchKey"), (2, "NoSuchVersion"), (3, "AccessDenied"))
DENIED = "<Error><Code>AccessDenied</Code></Error>"


class OddS3:
    """A store that answers what a test wants, which a good one never does. No answers left: the last one again."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, str]] = []
        self.url = ""

    def as_store(self) -> ObjectStore:
        return ObjectStore(self.url, "key", "secret")

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(line.partition(":")[2] for line in head.splitlines() if line.startswith("content-length"))
        await reader.readexactly(int(length))
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        lines = (f"HTTP/1.1 {status} X", "content-type: application/xml", f"content-length: {len(body)}")
        writer.write("\r\n".join((*lines, "connection: close", "", body)).encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def odd_s3() -> AsyncIterator[OddS3]:
    store = OddS3()
    server = await asyncio.start_server(store.answer, "127.0.0.1", 0)
    store.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield store


def settings_for(s3: ObjectStore, bucket: str, **changed: str) -> ModerationServiceSettings:
    known = {
        "database_url": "postgresql://nowhere",
        "redis_url": "redis://nowhere",
        "evidence_account": s3.endpoint,
        "evidence_bucket": bucket,
        "evidence_access_key": s3.access_key,
        "evidence_secret_key": s3.secret_key,
    }
    return ModerationServiceSettings.model_validate({**known, **changed})


@pytest.fixture
async def evidence(s3: ObjectStore) -> AsyncIterator[EvidenceStore]:
    store = EvidenceStore(settings_for(s3, s3.bucket("evidence")))
    yield store
    store.close()


@pytest.fixture
async def home(database: Database, evidence: EvidenceStore) -> AsyncIterator[House]:
    """Events in a real database, their texts in a real bucket."""
    async with house(database) as made:
        made.evidence = evidence  # type: ignore[assignment]  # the house has one in memory by itself
        yield made


async def everything(evidence: EvidenceStore) -> list[int]:
    return [event async for page in evidence.listed() for event in page]


async def test_a_text_is_read_by_its_link_and_its_digest_proves_it(home: House, evidence: EvidenceStore) -> None:
    event = await home.event(prompt="schön")
    await upload_evidence(home.store, evidence, EvidenceEvents(), FakeClock())
    link = evidence.link(event)
    assert link is not None
    async with httpx.AsyncClient() as client:
        answer = await client.get(link)
        unsigned = await client.get(link.partition("?")[0])
    assert hashlib.sha256(answer.content).hexdigest() == (await home.row(event))["text_sha256"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "private, no-store"
    assert unsigned.status_code == 403


def test_a_link_holds_for_ten_minutes_and_is_signed_without_asking(s3: ObjectStore) -> None:
    store = EvidenceStore(settings_for(s3, "evidence", evidence_account="http://127.0.0.1:1", evidence_region="here"))
    link = store.link(812)
    store.close()
    assert link is not None
    parts = httpx.URL(link)
    assert parts.path == "/evidence/evidence/812.json"
    assert parts.params["X-Amz-Expires"] == "600"
    assert parts.params["response-cache-control"] == "private, no-store"
    assert "/here/s3/aws4_request" in parts.params["X-Amz-Credential"]


async def test_retention_removes_objects_and_rows_agree_with_the_bucket(home: House, evidence: EvidenceStore) -> None:
    old, young = await home.event(8), await home.event(1)
    await upload_evidence(home.store, evidence, EvidenceEvents(), FakeClock())
    assert await everything(evidence) == [old, young]
    await home.tick(text_days=7)
    assert await everything(evidence) == [young]
    assert (await home.row(old))["text_redacted"]


async def test_a_missing_object_counts_as_deleted_and_many_go_in_one_call(evidence: EvidenceStore) -> None:
    for event in (1, 2):
        await evidence.put(event, b"{}")
    assert await evidence.delete(range(1, 301)) == set()
    assert await everything(evidence) == []


async def test_a_store_that_tells_of_each_missing_object_has_deleted_it(odd_s3: OddS3) -> None:
    store = EvidenceStore(settings_for(odd_s3.as_store(), "evidence"))
    told = "".join(f"<Error><Key>evidence/{n}.json</Key><Code>{code}</Code></Error>" for n, code in ODD_ONES)
    odd_s3.answers = [(200, f"<DeleteResult>{told}</DeleteResult>")]
    assert await store.delete(range(1, 6)) == {3}
    store.close()


async def test_what_a_store_deleted_before_it_failed_is_told_as_gone(odd_s3: OddS3) -> None:
    """Else rows would call stored what is not there any more."""
    store = EvidenceStore(settings_for(odd_s3.as_store(), "evidence"))
    odd_s3.answers = [(200, GONE), (403, DENIED)]
    assert await store.delete(range(1, 601)) == set(range(251, 601))
    odd_s3.answers = [(403, DENIED)]
    with pytest.raises(EvidenceUnavailable, match="AccessDenied"):
        await store.delete(range(1, 601))
    store.close()


async def test_closing_waits_for_no_call_that_hangs(s3: ObjectStore) -> None:
    with TrappedStore(s3.endpoint) as door:
        bucket = s3.bucket("evidence")
        store = EvidenceStore(settings_for(s3, bucket, evidence_account=door.endpoint))
        await store.put(1, b"{}")
        hanging = door.trap(b"PUT", "before")
        calls = [asyncio.create_task(store.put(1, b"{}"))]
        assert await asyncio.to_thread(hanging.reached.wait, 10)
        calls += [asyncio.create_task(store.put(event, b"{}")) for event in range(2, 20)]
        await asyncio.sleep(0)
        started = monotonic()
        store.close()
        assert monotonic() - started < 5
        hanging.released.set()
        await asyncio.gather(*calls, return_exceptions=True)


@pytest.mark.parametrize(
    ("errors", "kept"),
    [
        ("<Error><Key>evidence/2.json</Key><Code>AccessDenied</Code></Error>", {2}),
        ("<Error><Code>InternalError</Code></Error>", {1, 2, 3}),
        ("<Error><Key>evidence%2F2.json</Key><Code>InternalError</Code></Error>", {1, 2, 3}),
    ],
)
async def test_only_what_a_store_surely_deleted_counts_as_deleted(odd_s3: OddS3, errors: str, kept: set[int]) -> None:
    store = EvidenceStore(settings_for(odd_s3.as_store(), "evidence"))
    odd_s3.answers = [(200, f"<DeleteResult>{errors}</DeleteResult>")]
    assert await store.delete([1, 2, 3]) == kept
    store.close()


async def test_the_sweep_walks_the_real_bucket(home: House, evidence: EvidenceStore) -> None:
    orphan = await home.event(8)
    await home.tick(text_days=7)
    await evidence.put(orphan, b"{}")
    await evidence.put(999_999, b"{}")
    await sweep_orphans(home.store, evidence, EvidenceEvents())
    assert await everything(evidence) == [999_999]


async def test_a_store_that_is_away_keeps_texts_in_their_rows(home: House, s3: ObjectStore) -> None:
    away = EvidenceStore(settings_for(s3, "evidence", evidence_account="http://127.0.0.1:1"))
    event = await home.event()
    await home.grow_older(timedelta(days=1))
    await upload_evidence(home.store, away, EvidenceEvents(), FakeClock())
    with pytest.raises(EvidenceUnavailable, match="EndpointConnectionError"):
        await away.delete([event])
    away.close()
    assert (await home.row(event))["submitted_prompt"] == "words"


async def test_other_objects_of_the_bucket_are_never_looked_at(s3: ObjectStore) -> None:
    bucket = s3.bucket("evidence")
    client = boto3.client(
        "s3",
        endpoint_url=s3.endpoint,
        aws_access_key_id=s3.access_key,
        aws_secret_access_key=s3.secret_key,
        region_name=s3.region,
        config=Config(s3={"addressing_style": "path"}),
    )
    for key in ("elsewhere/1.json", "evidence/readme.txt"):
        client.put_object(Bucket=bucket, Key=key, Body=b"{}")
    client.close()
    store = EvidenceStore(settings_for(s3, bucket))
    assert await everything(store) == []
    store.close()
