"""The loop that keeps the months of statistics: made ahead of time, dropped when retention has ended."""

from datetime import timedelta

from services.dispatch.loops.compile_text_stats import compile_text_stats
from services.dispatch.loops.keep_stats_months import keep_stats_months
from tests.fakes.dispatch_service import Dispatch

_MONTHS = (
    "SELECT count(*) FROM pg_inherits WHERE inhparent = 'dispatch.text_gen_stats'::regclass"
    " AND inhrelid::regclass::text ~ '_20[0-9][0-9]_[01][0-9]$'"
)
_KEPT = timedelta(days=90 + 62)
"""The default, after the end of the month that an ending lies in."""


async def test_an_ending_is_kept_for_its_days_and_goes_with_its_month(dispatch: Dispatch) -> None:
    migrated = await dispatch.scene.db.fetchval("SELECT now()")
    dispatch.clock.advance(
        migrated - dispatch.clock.now() + timedelta(days=70)
    )  # past what the migration made room for
    await keep_stats_months(dispatch.deps)
    assert await dispatch.scene.db.fetchval(_MONTHS) == 2
    await dispatch.scene.db.execute(
        "INSERT INTO dispatch.text_gen_stats"
        " (started, finished, model, max_length, max_context_length, prompt_length, state)"
        " VALUES ($1, $1, 'm', 80, 2048, 1, 'OK')",
        dispatch.clock.now(),
    )
    for step, left in ((timedelta(days=80), 1), (_KEPT - timedelta(days=80), 0)):
        dispatch.clock.advance(step)
        await compile_text_stats(dispatch.deps)
        await keep_stats_months(dispatch.deps)
        assert await dispatch.scene.db.fetchval("SELECT count(*) FROM dispatch.text_gen_stats") == left
    assert await dispatch.scene.db.fetchval("SELECT sum(requests) FROM dispatch.compiled_text_gen_stats_ever") == 1
