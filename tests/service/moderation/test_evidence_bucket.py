"""The evidence store on a real S3 server: what is put can be read by its link alone, deleted and listed."""

import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta

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
from tests.servers import Database, ObjectStore


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
