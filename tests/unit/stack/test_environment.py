from pathlib import Path

import pytest

from horde.cli.stack.environment import SERVICES, Stores, Surroundings

STORES = Stores(
    database_url="postgresql://horde:owner@127.0.0.1:1/horde",
    logins={
        name: f"postgresql://horde_{name}:word@127.0.0.1:1/horde" for name in ("admission", "dispatch", "moderation")
    },
    redis_url="redis://:word@127.0.0.1:2/0",
    s3_endpoint="http://127.0.0.1:3",
    s3_access_key="access",
    s3_secret_key="secret",
    evidence={"R2_EVIDENCE_BUCKET": "horde-evidence"},
)


def surroundings(**given: str) -> Surroundings:
    return Surroundings(
        given=given,
        stores=STORES,
        secret_key="salt",
        gateway_port=7001,
        grpc_ports={name: 7100 + number for number, name in enumerate(SERVICES[:-1])},
        run=Path("run"),
        log_format="json",
    )


@pytest.mark.parametrize("service", SERVICES)
def test_no_service_gets_the_owners_login(service: str) -> None:
    assert "horde:owner" not in surroundings().of(service).get("HORDE_DATABASE_URL", "")


def test_a_service_gets_its_own_login_only_when_it_has_a_schema() -> None:
    around = surroundings()
    assert around.of("dispatch")["HORDE_DATABASE_URL"].startswith("postgresql://horde_dispatch:")
    assert "HORDE_DATABASE_URL" not in around.of("gateway")
    assert "HORDE_DATABASE_URL" not in around.of("progress")


def test_only_media_gets_the_keys_of_the_objects() -> None:
    around = surroundings()
    assert [name for name in SERVICES if "HORDE_S3_SECRET_KEY" in around.of(name)] == ["media"]


def test_a_setting_of_the_user_reaches_every_service() -> None:
    around = surroundings(HORDE_TEXT_JOB_LEASE_SECONDS="5")
    assert all(around.of(name)["HORDE_TEXT_JOB_LEASE_SECONDS"] == "5" for name in SERVICES)


def test_what_the_stack_decides_is_not_taken_from_the_user() -> None:
    around = surroundings(HORDE_GRPC_LISTEN="0.0.0.0:1", HORDE_DATABASE_URL="postgresql://a", HORDE_MEDIA_TARGET="x:1")
    assert around.of("media")["HORDE_GRPC_LISTEN"] == around.target("media")
    assert "HORDE_DATABASE_URL" not in around.of("media")
    assert around.of("gateway")["HORDE_MEDIA_TARGET"] == around.target("media")


def test_the_gateway_listens_where_the_command_line_says() -> None:
    assert surroundings().of("gateway")["HORDE_GATEWAY_LISTEN"] == "127.0.0.1:7001"
