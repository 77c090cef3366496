"""The status of a request far back in a long queue."""

import asyncpg

from horde.cli.bench.queue import Queue
from horde.settings import PostgresSettings
from horde.store import Store
from services.dispatch.rules.status import EXACT_BOUND, HEAD_STEP
from tests.fakes.dispatch_service import serving
from tests.servers import Database

_WAITING = 700


async def test_a_place_far_back_is_told_to_one_step(database: Database) -> None:
    settings = PostgresSettings(database_url=database.url, database_pool_size=1)
    async with serving(database) as dispatch, Store.open(settings, application_name="test-filling") as store:
        await Queue(store, "features", reserve=0).add(_WAITING)
        connection = await asyncpg.connect(database.url)
        try:
            in_order = await connection.fetch(
                "SELECT id, is_chat FROM dispatch.waiting_prompts ORDER BY rank DESC, created, id"
            )
        finally:
            await connection.close()

        for place in (1, EXACT_BOUND, EXACT_BOUND + 1, 350, _WAITING):
            request, is_chat = in_order[place - 1]
            told = (await dispatch.status(request, chat=is_chat)).queue_position
            assert told <= place
            assert place - told < (HEAD_STEP if place > EXACT_BOUND else 1)
