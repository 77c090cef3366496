import asyncpg
import httpx
import redis.asyncio

from tests.servers import Database, ObjectStore, Restartable


async def test_a_database_is_migrated_and_each_service_can_log_in(database: Database) -> None:
    async with database.store("horde_dispatch") as store:
        await store.ping()
        await store.check_schema()


async def test_two_databases_of_a_session_do_not_meet(database: Database, empty_database: Database) -> None:
    assert database.url != empty_database.url
    connection = await asyncpg.connect(empty_database.url)
    found = await connection.fetchval("SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dispatch'")
    await connection.close()
    assert found == 0


async def test_valkey_is_empty_for_each_test(redis_url: str) -> None:
    async with redis.asyncio.Redis.from_url(redis_url) as client:
        assert await client.dbsize() == 0


async def test_a_new_bucket_refuses_strangers(s3: ObjectStore) -> None:
    bucket = s3.bucket("images")
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{s3.endpoint}/{bucket}/secret")).status_code == 403


async def test_a_killed_postgres_comes_back_on_its_port(restartable_postgres: Restartable) -> None:
    before = restartable_postgres.url
    restartable_postgres.kill()
    restartable_postgres.start()
    assert restartable_postgres.url == before


async def test_a_killed_valkey_comes_back_on_its_port(restartable_redis: Restartable) -> None:
    before = restartable_redis.url
    restartable_redis.kill()
    restartable_redis.start()
    assert restartable_redis.url == before
