"""How a reply is streamed under /v1."""

import asyncio
from typing import Any

from tests.fakes.front_client import Reader, front, read


async def test_a_stream_relays_what_is_posted_and_ends_with_usage() -> None:
    async with front() as it, it.stream(stream_options={"include_usage": True}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["cache-control"] == "no-cache, no-transform"
        assert response.headers["x-accel-buffering"] == "no"
        it.told.post(1, reasoning="Hm. ")
        it.told.post(2, "One\u2028two\u0085")
        it.told.post(3, " three 🦊")
        await asyncio.sleep(0.05)
        it.told.store("One\u2028two\u0085 three 🦊!", reasoning_content="Hm. ", completion_tokens=5, reasoning_tokens=1)
        streamed = await read(response)
    assert streamed.is_done
    assert not streamed.is_cut
    assert streamed.text == "One\u2028two\u0085 three 🦊!"
    assert it.told.submitted()["stream"] is True
    assert "stream_options" not in it.told.submitted()
    first, last = streamed.choices[0], streamed.choices[-1]
    assert first["delta"] == {"role": "assistant", "content": ""}
    assert last["delta"] == {}
    assert last["finish_reason"] == "stop"
    assert [choice["finish_reason"] for choice in streamed.choices[:-1]] == [None] * (len(streamed.choices) - 1)
    assert streamed.choices[1]["delta"] == {"reasoning_content": "Hm. "}
    usage = streamed.chunks[-1]
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 5
    assert usage["usage"]["prompt_tokens"] == 2
    assert usage["usage"]["completion_tokens_details"] == {"reasoning_tokens": 1}
    assert usage["horde"]["usage_estimated"] is True
    assert all(chunk["usage"] is None for chunk in streamed.chunks[:-1])
    equal = {(chunk["id"], chunk["created"], chunk["model"], chunk["system_fingerprint"]) for chunk in streamed.chunks}
    assert len(equal) == 1
    assert {line.partition(":")[0] for line in streamed.lines if line} == {"data"}


async def test_a_worker_that_posts_nothing_gives_one_chunk_at_the_end() -> None:
    async with front() as it, it.stream() as response:
        it.told.store("All at once")
        streamed = await read(response)
    assert [choice["delta"] for choice in streamed.choices] == [
        {"role": "assistant", "content": ""},
        {"content": "All at once"},
        {},
    ]
    assert all("usage" not in chunk for chunk in streamed.chunks)
    assert streamed.is_done


async def test_a_plain_and_a_streamed_reply_have_one_fingerprint() -> None:
    async with front() as it:
        async with it.stream() as response:
            it.told.store("x")
            streamed = await read(response)
        asking = asyncio.create_task(it.plain())
        await it.told.asked_for("GetStatus", 3)
        it.told.store("x")
        plain = (await asking).json()
    assert plain["system_fingerprint"] == streamed.chunks[0]["system_fingerprint"]
    assert plain["system_fingerprint"].startswith("fp_")


async def test_tool_calls_come_from_the_stored_reply_in_two_chunks_each() -> None:
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}},
        {"id": "c2", "type": "function", "function": {"name": "rest", "arguments": ""}},
    ]
    async with front() as it, it.stream() as response:
        it.told.store(None, tool_calls=calls, finish_reason="tool_calls")
        streamed = await read(response)
    deltas = [choice["delta"]["tool_calls"][0] for choice in streamed.choices if "tool_calls" in choice["delta"]]
    assert deltas == [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"a":1}'}},
        {"index": 1, "id": "c2", "type": "function", "function": {"name": "rest", "arguments": ""}},
        {"index": 1, "function": {"arguments": "{}"}},
    ]
    assert streamed.choices[-1]["finish_reason"] == "tool_calls"


async def test_a_reply_that_may_be_refused_is_not_sent_before_it_is_stored() -> None:
    form = {"type": "json_object"}
    async with front() as it, it.stream(response_format=form) as response:
        it.told.post(1, '{"a')
        await asyncio.sleep(0.05)
        it.told.store('{"b": 1}')
        streamed = await read(response)
    assert streamed.text == '{"b": 1}'
    assert streamed.is_done


async def test_a_generation_that_ended_unseen_is_replaced_silently() -> None:
    async with front() as it, it.stream(include_reasoning=False) as response:
        it.told.post(1, reasoning="not shown")
        it.told.end()
        it.told.post(1, "second", generation="g2")
        await asyncio.sleep(0.05)
        it.told.store("second try", generation="g2")
        streamed = await read(response)
    assert streamed.text == "second try"
    assert streamed.is_done


async def test_a_new_reply_that_continues_what_was_sent_ends_well() -> None:
    async with front() as it, it.stream() as response:
        reader = Reader(response)
        it.told.post(1, "Same ")
        await reader.text("Same ")
        it.told.end()
        it.told.post(1, "Other", generation="g2")
        it.told.store("Same words", generation="g2")
        streamed = await reader.rest()
    assert streamed.text == "Same words"
    assert streamed.is_done


async def test_a_new_reply_that_differs_breaks_the_stream_off() -> None:
    async with front() as it, it.stream() as response:
        reader = Reader(response)
        it.told.post(1, "Sent ")
        await reader.text("Sent ")
        it.told.end()
        it.told.store("Different", generation="g2")
        streamed = await reader.rest()
    assert streamed.error["code"] == "stream_restarted"
    assert streamed.error["type"] == "server_error"
    assert streamed.is_cut
    assert not streamed.is_done


async def test_a_reply_that_is_censored_after_some_of_it_was_sent_ends_as_a_content_filter() -> None:
    async with front() as it, it.stream(stream_options={"include_usage": True}) as response:
        reader = Reader(response)
        it.told.post(1, "bad")
        await reader.text("bad")
        it.told.store("***", state="censored")
        streamed = await reader.rest()
    assert (streamed.text, streamed.is_done, streamed.is_cut) == ("bad", True, False)
    assert streamed.choices[-1]["finish_reason"] == "content_filter"
    assert streamed.chunks[-1]["usage"]["completion_tokens"] > 0


async def test_a_worker_that_takes_back_what_it_sent_breaks_the_stream_off() -> None:
    async with front() as it, it.stream() as response:
        reader = Reader(response)
        it.told.post(1, "Sent ")
        await reader.text("Sent ")
        it.told.store("Sen")
        streamed = await reader.rest()
    assert streamed.error["code"] == "stream_restarted"
    assert "Another worker" not in streamed.error["message"]


async def test_a_fault_inside_a_stream_is_told_and_the_connection_cut() -> None:
    async with front() as it, it.stream() as response:
        reader = Reader(response)
        it.told.post(1, "Be")
        await reader.text("Be")
        it.told.fault("The worker's backend failed while generating.", "ChatWorkerFault")
        streamed = await reader.rest()
    assert streamed.error["message"] == "The worker's backend failed while generating."
    assert streamed.error["code"] == "generation_failed"
    assert streamed.error["rc"] == "ChatWorkerFault"
    assert streamed.is_cut


async def test_a_silent_stream_is_kept_open_by_comments_without_a_blank_line() -> None:
    async with front(front_keepalive_seconds=0.05) as it, it.stream() as response:
        raw = b""
        async for piece in response.aiter_raw():
            raw += piece
            if raw.count(b": keepalive\n") == 2:
                it.told.store("x")
    assert raw.startswith(b": keepalive\n: keepalive\n")
    assert b"\n\n: keepalive\n\n" not in raw
    assert raw.endswith(b"data: [DONE]\n\n")


async def test_keep_alive_chunks_begin_only_after_the_role() -> None:
    async with front(front_keepalive_seconds=0.05, front_keepalive="chunk") as it, it.stream() as response:
        reader = Reader(response)
        await asyncio.sleep(0.15)
        it.told.post(1, "a")
        empty = {"delta": {}, "index": 0, "logprobs": None, "finish_reason": None}
        await reader.until(lambda streamed: empty in streamed.choices)
        it.told.store("a")
        streamed = await reader.rest()
    assert streamed.choices[0]["delta"] == {"role": "assistant", "content": ""}
    assert streamed.text == "a"


async def test_the_setting_buffer_sends_nothing_before_the_stored_reply() -> None:
    async with front(front_restart="buffer") as it, it.stream() as response:
        it.told.post(1, "early")
        await asyncio.sleep(0.05)
        it.told.store("other")
        streamed = await read(response)
    assert streamed.text == "other"


async def test_hidden_reasoning_is_not_shown_but_counted() -> None:
    hidden: dict[str, Any] = {"horde": {"include_reasoning": False}, "stream_options": {"include_usage": True}}
    async with front() as it, it.stream(**hidden) as response:
        it.told.post(1, reasoning="secret")
        await asyncio.sleep(0.05)
        it.told.store("answer", reasoning_content="secret thought", reasoning_tokens=9, completion_tokens=12)
        streamed = await read(response)
    assert "secret" not in "".join(streamed.lines)
    assert streamed.chunks[-1]["usage"]["completion_tokens"] == 12


async def test_a_censored_reply_finishes_as_a_content_filter() -> None:
    async with front() as it, it.stream() as response:
        it.told.store("removed", state="censored")
        streamed = await read(response)
    assert streamed.text == "removed"
    assert streamed.choices[-1]["finish_reason"] == "content_filter"
