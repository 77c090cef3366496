"""The manifests are run: each Deployment's own command, variables and probes, and a rolling restart under load."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub

from horde.cli.admin import check_ledger, create_account
from horde.rpc.client import Neighbour, NeighbourUnavailable
from tests.fakes.patience import until
from tests.manifests import Manifest, command_of, container_of, environment_of, named, of_kind, rendered
from tests.servers import Database, ObjectStore
from tests.system.pods import Cluster
from tests.system.steady_load import SteadyLoad

SECRET = "the-salt-of-the-manifests"
KINDS = ("replies", "streams", "POST /generate/text/pop", "POST /generate/text/submit")
SERVICES = ("gateway", "admission", "dispatch", "progress", "media", "moderation")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="each pod takes a loopback address of its own")


@pytest.fixture
def values(database: Database, redis_url: str, s3: ObjectStore) -> Mapping[tuple[str, str], str]:
    """What the secrets of the README hold: the stores of the tests."""
    return {
        ("postgres", "owner-url"): database.url,
        ("postgres", "admission-url"): database.url_for("horde_admission"),
        ("postgres", "dispatch-url"): database.url_for("horde_dispatch"),
        ("postgres", "dispatch-listen-url"): database.url_for("horde_dispatch"),
        ("postgres", "moderation-url"): database.url_for("horde_moderation"),
        ("redis", "url"): redis_url,
        ("s3", "endpoint"): s3.endpoint,
        ("s3", "access-key"): s3.access_key,
        ("s3", "secret-key"): s3.secret_key,
        ("horde", "secret-key"): SECRET,
    }


@pytest.fixture
def changed(s3: ObjectStore) -> Mapping[str, str]:
    """What is set otherwise than the overlays do: the bucket, and no limits, since all clients share one address."""
    return {"R2_SOURCE_IMAGE_BUCKET": s3.bucket("pods"), "HORDE_RATE_LIMITS_ENABLED": "false"}


async def a_load(cluster: Cluster, database: Database) -> SteadyLoad:
    client = await create_account(database.url, SECRET, "client", kudos=1_000_000, trusted=True, concurrency=500)
    owner = await create_account(database.url, SECRET, "owner", kudos=0, trusted=True, concurrency=500)
    return SteadyLoad(cluster.url, client.api_key, owner.api_key)


async def test_the_migration_job_brings_an_empty_database_to_head(
    system_tool: Callable[[str], Path], empty_database: Database
) -> None:
    manifests = rendered("production", system_tool("kubectl"))
    container = container_of(named(manifests, "Job", "migrate"))
    environment = environment_of(container, manifests, {("postgres", "owner-url"): empty_database.url})
    program, *arguments = command_of(container)
    beside = Path(sys.executable).with_name(program)
    for more in ([], ["--check"]):
        done = await asyncio.create_subprocess_exec(beside, *arguments, *more, env=environment)
        assert await done.wait() == 0


@pytest.mark.slow
async def test_a_rolling_restart_of_every_service_under_load_fails_no_request(
    system_tool: Callable[[str], Path],
    tmp_path: Path,
    database: Database,
    values: Mapping[tuple[str, str], str],
    changed: Mapping[str, str],
) -> None:
    manifests = rendered("local", system_tool("kubectl"))
    async with Cluster.running(manifests, values, changed, tmp_path) as cluster:
        load = await a_load(cluster, database)
        async with load.running():
            await asyncio.sleep(2)
            before = {pod.name for name in SERVICES for pod in cluster.pods(name)}
            await asyncio.gather(*(cluster.restart(name) for name in SERVICES))
            after = {pod.name for name in SERVICES for pod in cluster.pods(name)}
            assert len(before) == len(after) == len(SERVICES)
            assert before.isdisjoint(after)
            load.done.clear()
            await until(lambda: min(load.done[kind] for kind in KINDS) > 10, 60)
        assert load.failures == []
        assert cluster.restarts == []
    assert await check_ledger(database.url) == []


def certificates(manifests: list[Manifest], folder: Path) -> None:
    """Puts into folders what cert-manager puts into secrets."""
    authority = trustme.CA()
    for wanted in of_kind(manifests, "Certificate"):
        if wanted["spec"].get("isCA"):
            continue
        made = authority.issue_cert(*wanted["spec"]["dnsNames"])
        at = folder / wanted["spec"]["secretName"]
        at.mkdir()
        made.private_key_pem.write_to_path(at / "tls.key")
        (at / "tls.crt").write_bytes(b"".join(part.bytes() for part in made.cert_chain_pems))
        authority.cert_pem.write_to_path(at / "ca.crt")


async def answers_in_plain_text(cluster: Cluster, name: str) -> bool:
    """Whether a service tells anything to a caller without a certificate."""
    (pod,) = cluster.pods(name)
    stranger = Neighbour(f"{pod.address}:7100", name=name)
    health: Any = HealthStub(stranger.channel)
    try:
        await stranger.once(health.Check, deadline=timedelta(seconds=2))(HealthCheckRequest())
    except NeighbourUnavailable:
        return False
    finally:
        await stranger.close()
    return True


async def test_in_production_services_know_each_other_by_certificate_and_serve_a_chat(
    system_tool: Callable[[str], Path],
    tmp_path: Path,
    database: Database,
    values: Mapping[tuple[str, str], str],
    changed: Mapping[str, str],
) -> None:
    manifests = rendered("production", system_tool("kubectl"))
    certificates(manifests, tmp_path)
    async with Cluster.running(manifests, values, changed, tmp_path) as cluster:
        load = await a_load(cluster, database)
        async with load.running(clients=1, streams=1, workers=2):
            await until(lambda: load.done["replies"] > 0 and load.done["streams"] > 0, 60)
        assert load.failures == []
        answered = await asyncio.gather(*(answers_in_plain_text(cluster, name) for name in SERVICES[1:]))
        assert not any(answered)
