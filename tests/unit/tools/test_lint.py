import pytest

from tools.lint import boundaries, comments, headers, names, traces
from tools.lint.source import Rule, Source


def said(rule: Rule, name: str, text: str) -> list[str]:
    return [finding.sentence for finding in rule(Source(name, text))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("services/x/utils.py", '"""A."""\n'),
        ("horde/common/__init__.py", '"""A."""\n'),
        ("horde/rpc/client.py", "class RetryManager:\n    pass\n"),
        ("horde/rpc/client.py", "class BaseClient:\n    pass\n"),
        ("services/x/sql/misc_rows.sql", "-- misc_rows: a\n"),
    ],
)
def test_a_swamp_word_in_a_name_is_found(name: str, text: str) -> None:
    assert len(said(names.swamp_words, name, text)) == 1


def test_words_that_only_contain_a_swamp_word_are_fine() -> None:
    assert said(names.swamp_words, "services/x/database.py", "class Baseline:\n    pass\n") == []


def test_the_page_that_others_are_copied_from_may_be_called_a_template() -> None:
    assert said(names.swamp_words, "docs/adr/template.md", "") == []


@pytest.mark.parametrize("mark", ["# TO" + "DO: later", "# FIX" + "ME", "# TO" + "DO(me): later"])
def test_a_promise_without_a_number_is_found(mark: str) -> None:
    assert len(said(comments.numbered_promises, "horde/a.py", f"x = 1  {mark}\n")) == 1


def test_a_promise_with_a_number_is_fine() -> None:
    assert said(comments.numbered_promises, "horde/a.sql", "-- TO" + "DO(#12): drop the column\n") == []


@pytest.mark.parametrize(
    "silence", ["# no" + "qa", "# no" + "qa: S311", "# type: ig" + "nore", "# type: ig" + "nore[misc]"]
)
def test_silence_without_a_reason_is_found(silence: str) -> None:
    assert len(said(comments.reasons_for_silence, "horde/a.py", f"x = 1  {silence}\n")) == 1


@pytest.mark.parametrize(
    "silence", ["# no" + "qa: S311 - spreads load", "# type: ig" + "nore[misc]  # the driver forgot its type"]
)
def test_silence_with_a_reason_is_fine(silence: str) -> None:
    assert said(comments.reasons_for_silence, "horde/a.py", f"x = 1  {silence}\n") == []


@pytest.mark.parametrize(
    "text", ['q = "SELECT 1"', 'q = f"UPDATE users SET a = {1}"', 'q = """\n  WITH a AS (\n"""', 'q = "DELETE FROM a"']
)
def test_sql_in_a_string_is_found(text: str) -> None:
    assert len(said(boundaries.sql_in_its_files, "services/x/repo.py", text)) == 1


def test_prose_and_documentation_are_no_sql() -> None:
    text = '"""SELECT what you need."""\nword = "select a model"\nother = "Update the worker"\n'
    assert said(boundaries.sql_in_its_files, "services/x/repo.py", text) == []


@pytest.mark.parametrize("call", ["os.environ['A']", "os.getenv('A')", "os.environ.get('A')"])
def test_the_environment_is_read_in_settings_only(call: str) -> None:
    text = f"import os\nx = {call}\n"
    assert len(said(boundaries.environment_in_settings, "services/x/handlers/a.py", text)) == 1
    assert said(boundaries.environment_in_settings, "services/x/settings.py", text) == []


@pytest.mark.parametrize("call", ["datetime.now(UTC)", "datetime.utcnow()", "date.today()", "datetime.datetime.now()"])
def test_the_time_is_read_by_the_clock_only(call: str) -> None:
    assert len(said(boundaries.time_through_the_clock, "services/x/rules/a.py", f"x = {call}\n")) == 1
    assert said(boundaries.time_through_the_clock, "horde/clock.py", f"x = {call}\n") == []


TRANSACTION = """
async def f(deps):
    async with deps.store.transaction() as tx:
        await {inside}
    await deps.live.wake()
"""


@pytest.mark.parametrize("inside", ["deps.neighbours.standing(1)", "deps.live.wake()", "self.redis.get('a')"])
def test_something_remote_inside_a_transaction_is_found(inside: str) -> None:
    found = said(
        boundaries.nothing_remote_in_a_transaction, "services/x/handlers/a.py", TRANSACTION.format(inside=inside)
    )
    assert len(found) == 1


def test_the_store_inside_a_transaction_is_fine() -> None:
    text = TRANSACTION.format(inside="repo.insert(tx, 1)")
    assert said(boundaries.nothing_remote_in_a_transaction, "services/x/handlers/a.py", text) == []


def test_an_id_as_a_label_is_found() -> None:
    assert len(said(boundaries.small_labels, "services/x/events.py", "A.labels(claim.worker_id).inc()\n")) == 1
    assert said(boundaries.small_labels, "services/x/events.py", "A.labels(outcome=claim.outcome).inc()\n") == []


def test_a_patch_by_name_is_found() -> None:
    text = "monkeypatch.setattr('a.b', 1)\nmock.patch('a.b')\nmonkeypatch.setattr(thing, 'b', 1)\n"
    assert len(said(boundaries.nothing_patched_by_name, "tests/unit/test_a.py", text)) == 2


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("services/x/sql/lock_rows.sql", "-- lock_rows: the oldest rows."),
        ("horde/store/functions/dispatch_enqueue_v1.sql", "-- dispatch.enqueue_v1: one request."),
        ("horde/store/migrations/sql/0001_schema.sql", "-- The first schema."),
    ],
)
def test_a_header_with_the_files_name_is_fine(name: str, first: str) -> None:
    assert said(headers.headed, name, f"{first}\nSELECT 1;\n") == []


@pytest.mark.parametrize("first", ["SELECT 1;", "-- other_rows: the oldest.", "-- lock_rows"])
def test_a_file_without_its_header_is_found(first: str) -> None:
    assert len(said(headers.headed, "services/x/sql/lock_rows.sql", f"{first}\n")) == 1


def test_a_script_declares_what_it_takes_and_returns() -> None:
    text = "-- a: does\n-- KEYS[1]  lease\nreturn redis.call('SET', KEYS[1], ARGV[1])\n"
    found = said(headers.declared, "services/x/scripts/a.lua", text)
    assert found == [
        "ARGV[1] is used but not declared in the header",
        "the header does not say what the script returns",
    ]


@pytest.mark.parametrize("text", ["/ro" + "ot/x", "see /wo" + "rk/main", "https://py" + "pi.org/simple"])
def test_a_trace_of_one_machine_is_found(text: str) -> None:
    assert len(said(traces.nothing_of_this_machine, "README.md", text)) == 1


def test_other_paths_are_fine() -> None:
    assert said(traces.nothing_of_this_machine, "README.md", "/v2/workers/x services/work/x /proc/1") == []
