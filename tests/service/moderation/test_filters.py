"""Filters as moderators write them: judged by at once, and a broken pattern never replaces a good one."""

from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.reasons import Reason
from horde.contract.refusal import Refusal
from horde_pb.moderation.v1 import filters_pb2 as pb
from horde_pb.vocabulary.v1.caller_pb2 import Caller
from tests.service.moderation.conftest import MODERATOR


@pytest.fixture
async def key(moderation: Any) -> str:
    """A moderator's key; its alias is `mod#1`."""
    made: str = await moderation.account("mod", MODERATOR)
    return made


async def create(moderation: Any, key: str, regex: str, kind: int, **more: str) -> pb.Filter:
    ask = pb.CreateFilterRequest(caller=Caller(api_key=key), regex=regex, filter_type=kind, **more)
    answer = await moderation.call(moderation.filters.CreateFilter, ask)
    made: pb.Filter = answer.filter
    return made


async def update(moderation: Any, key: str, filter_id: object, **change: Any) -> pb.Filter:
    ask = pb.UpdateFilterRequest(caller=Caller(api_key=key), id=str(filter_id), **change)
    answer = await moderation.call(moderation.filters.UpdateFilter, ask)
    changed: pb.Filter = answer.filter
    return changed


async def get(moderation: Any, key: str, filter_id: object) -> pb.Filter:
    ask = pb.GetFilterRequest(caller=Caller(api_key=key), id=str(filter_id))
    answer = await moderation.call(moderation.filters.GetFilter, ask)
    found: pb.Filter = answer.filter
    return found


async def delete(moderation: Any, key: str, filter_id: object) -> None:
    ask = pb.DeleteFilterRequest(caller=Caller(api_key=key), id=str(filter_id))
    await moderation.call(moderation.filters.DeleteFilter, ask)


async def listed(moderation: Any, key: str, **wanted: Any) -> list[str]:
    ask = pb.ListFiltersRequest(caller=Caller(api_key=key), **wanted)
    return [one.regex for one in (await moderation.call(moderation.filters.ListFilters, ask)).filters]


async def found(moderation: Any, key: str, prompt: str, **only: int) -> list[str]:
    ask = pb.MatchFiltersRequest(caller=Caller(api_key=key), prompt=prompt, **only)
    answer = await moderation.call(moderation.filters.MatchFilters, ask)
    assert answer.suspicion == len(answer.matches)
    return list(answer.matches)


async def compiled(moderation: Any, key: str, **only: int) -> dict[int, str]:
    ask = pb.ListCompiledFiltersRequest(caller=Caller(api_key=key), **only)
    answer = await moderation.call(moderation.filters.ListCompiledFilters, ask)
    return {one.filter_type: one.regex for one in answer.compiled}


async def refused(call: Any) -> Reason:
    with pytest.raises(Refusal) as no:
        await call
    reason: Reason = no.value.reason
    return reason


async def test_a_filter_is_written_read_changed_and_deleted(moderation: Any, key: str) -> None:
    made = await create(moderation, key, "bad.*", 10, description="bad words", replacement="kind")
    assert (made.regex, made.filter_type, made.description, made.replacement) == ("bad.*", 10, "bad words", "kind")
    assert made.user == "mod#1"
    assert await get(moderation, key, made.id) == made
    changed = await update(moderation, key, made.id, regex="worse.*", filter_type=11)
    assert (changed.regex, changed.filter_type, changed.description) == ("worse.*", 11, "bad words")
    assert await get(moderation, key, made.id) == changed
    await delete(moderation, key, made.id)
    assert await refused(get(moderation, key, made.id)) is reasons.FILTER_NOT_FOUND
    assert await refused(delete(moderation, key, made.id)) is reasons.FILTER_NOT_FOUND
    assert await refused(update(moderation, key, made.id, regex="x")) is reasons.FILTER_NOT_FOUND


async def test_the_same_pattern_and_type_is_the_same_filter(moderation: Any, key: str) -> None:
    first = await create(moderation, key, "bad", 10, description="first", replacement="kind")
    assert await create(moderation, key, "bad", 10, description="second", replacement="other") == first
    other = await create(moderation, key, "bad", 11)
    assert other.id != first.id
    assert not other.HasField("description")
    assert await refused(update(moderation, key, other.id, filter_type=10)) is reasons.BAD_REQUEST
    assert await get(moderation, key, other.id) == other


async def test_filters_are_listed_by_type_and_by_what_they_hold(moderation: Any, key: str) -> None:
    await create(moderation, key, "Bad", 10, description="A word")
    await create(moderation, key, "worse", 20, description="About Badgers")
    await create(moderation, key, "100%_", 29)
    assert await listed(moderation, key) == ["Bad", "worse", "100%_"]
    assert await listed(moderation, key, filter_type=20) == ["worse"]
    assert await listed(moderation, key, contains="bad") == ["Bad", "worse"]
    assert await listed(moderation, key, contains="%_") == ["100%_"]
    assert await listed(moderation, key, contains="bad", filter_type=10) == ["Bad"]


async def test_what_is_written_is_judged_by_at_once(moderation: Any, key: str) -> None:
    assert await found(moderation, key, "badword") == []
    made = await create(moderation, key, "badword", 10)
    await create(moderation, key, "worse", 20)
    assert await found(moderation, key, "a B.a.d.w.o.r.d") == ["Badword"]
    assert await found(moderation, key, "badword, worsething") == ["badword", "worse"]
    with pytest.raises(Refusal):
        await moderation.screen("badword worse")
    await update(moderation, key, made.id, regex="other")
    await moderation.screen("badword worse")
    await delete(moderation, key, made.id)
    assert await found(moderation, key, "other, worse") == ["worse"]


async def test_a_text_can_be_tried_on_one_type(moderation: Any, key: str) -> None:
    await create(moderation, key, "one", 10)
    await create(moderation, key, "two", 11)
    await create(moderation, key, "three", 29)
    assert await found(moderation, key, "one two three") == ["one"]
    assert await found(moderation, key, "one two three", filter_type=11) == ["two"]
    assert await found(moderation, key, "one two three", filter_type=20) == []
    assert await found(moderation, key, "\N{BABY}") == ["\N{BABY}"]
    assert await found(moderation, key, "\N{BABY}", filter_type=20) == []


async def test_the_patterns_in_force_are_told_joined(moderation: Any, key: str) -> None:
    assert await compiled(moderation, key) == {10: "", 11: "", 20: ""}
    await create(moderation, key, "one", 10)
    await create(moderation, key, "two.*", 10)
    await create(moderation, key, "three", 20)
    assert await compiled(moderation, key) == {10: "one|two.*", 11: "", 20: "three"}
    assert await compiled(moderation, key, filter_type=20) == {20: "three"}
    assert await compiled(moderation, key, filter_type=29) == {}


@pytest.mark.parametrize("broken", ["(", "[a-", "(?P<x>a)(?P=y)", "*", "(?<=a+)b(?"])
async def test_a_broken_pattern_never_replaces_a_good_one(moderation: Any, key: str, broken: str) -> None:
    made = await create(moderation, key, "good", 10)
    assert await refused(create(moderation, key, broken, 10)) is reasons.BAD_REQUEST
    assert await refused(update(moderation, key, made.id, regex=broken)) is reasons.BAD_REQUEST
    assert await listed(moderation, key) == ["good"]
    # Written past the API, it is kept out of force.
    await moderation.owner.execute("UPDATE moderation.filters SET regex = $1", broken)
    await moderation.deps.filters.refresh()
    assert await compiled(moderation, key) == {10: "good", 11: "", 20: ""}
    assert await found(moderation, key, "good") == ["good"]


async def test_empty_changes_are_no_changes(moderation: Any, key: str) -> None:
    made = await create(moderation, key, "good", 10, description="d", replacement="r")
    assert await refused(update(moderation, key, made.id)) is reasons.NO_FILTER_MOD_SELECTED
    assert await refused(update(moderation, key, made.id, regex="", replacement="")) is reasons.NO_FILTER_MOD_SELECTED
    changed = await update(moderation, key, made.id, regex="", replacement="s")
    assert (changed.regex, changed.replacement, changed.description) == ("good", "s", "d")


@pytest.mark.parametrize("wanted", ["0", "-1", "x", "", "99999999999999999999", "2147483648", "1.5", "\u0661"])
async def test_what_is_no_id_of_a_filter_is_not_found(moderation: Any, key: str, wanted: str) -> None:
    assert await refused(get(moderation, key, wanted)) is reasons.FILTER_NOT_FOUND


async def test_only_moderators_see_and_write_filters(moderation: Any, key: str) -> None:
    made = await create(moderation, key, "good", 10)
    stranger = await moderation.account("anybody")
    for whose, reason in ((stranger, reasons.NOT_MODERATOR), ("nobody's", reasons.INVALID_API_KEY)):
        for call in (
            create(moderation, whose, "(", 10),
            update(moderation, whose, made.id),
            get(moderation, whose, "x"),
            delete(moderation, whose, made.id),
            listed(moderation, whose),
            found(moderation, whose, "good"),
            compiled(moderation, whose),
        ):
            assert await refused(call) is reason
    assert await listed(moderation, key) == ["good"]


async def test_a_filter_outlives_the_account_that_wrote_it(moderation: Any, key: str) -> None:
    await moderation.add_filter(10, "old")
    await moderation.owner.execute("UPDATE moderation.filters SET user_id = 999")
    assert await listed(moderation, key) == ["old"]
