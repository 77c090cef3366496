"""Jobs of a request whose messages are also stored as one object: a link for who declared it, inline for all others."""

from typing import Any

from tests.fakes.dispatch_pops import Pops, chat_declaration, job_of


async def offloaded(pops: Pops, **columns: Any) -> Any:
    return await pops.world.chat(await pops.world.account("requester"), chat_messages_offloaded=True, **columns)


async def test_a_worker_that_fetches_messages_gets_a_link_in_their_place(pops: Pops) -> None:
    request = await offloaded(pops, has_images=True, image_keys=["k"], params={"seed": 7})

    declared = chat_declaration(image_transports=["url", "messages_url"])
    payload = job_of(await pops.pop(await pops.world.account(), chat=declared))["payload"]

    assert payload["messages_url"] == f"https://objects.test/{request}_chat_messages.json"
    assert "messages" not in payload
    assert (payload["seed"], payload["max_length"], payload["n"], payload["temperature"]) == (7, 512, 1, 1.0)
    assert [(asked.request_id, asked.valid_seconds) for asked in pops.media.messages_signed] == [(str(request), 120)]
    assert pops.media.signed == []
    assert await pops.world.value("SELECT image_transport FROM dispatch.processing_gens") == "messages_url"


async def test_a_worker_that_fetches_no_messages_gets_an_offloaded_request_inline(pops: Pops) -> None:
    image = {"type": "image_url", "image_url": {"url": "horde-r2://k"}}
    await offloaded(pops, has_images=True, image_keys=["k"], messages=[{"role": "user", "content": [image]}])

    payload = job_of(await pops.pop(await pops.world.account()))["payload"]

    assert payload["messages"][0]["content"][0]["image_url"]["url"] == "https://objects.test/k"
    assert "messages_url" not in payload
    assert await pops.world.value("SELECT image_transport FROM dispatch.processing_gens") == "url"


async def test_an_inline_job_without_images_has_no_transport(pops: Pops) -> None:
    await offloaded(pops)

    payload = job_of(await pops.pop(await pops.world.account(), chat=chat_declaration(image_transports=["url"])))[
        "payload"
    ]

    assert payload["messages"]
    assert await pops.world.value("SELECT image_transport FROM dispatch.processing_gens") is None


async def test_messages_that_were_not_offloaded_come_inline_to_a_worker_that_fetches(pops: Pops) -> None:
    await pops.world.chat(await pops.world.account("requester"))

    declared = chat_declaration(image_transports=["messages_url"])
    payload = job_of(await pops.pop(await pops.world.account(), chat=declared))["payload"]

    assert payload["messages"]
    assert await pops.world.value("SELECT image_transport FROM dispatch.processing_gens") is None


async def test_messages_whose_link_cannot_be_made_go_inline(pops: Pops) -> None:
    request = await offloaded(pops)
    pops.media.is_down = True

    declared = chat_declaration(image_transports=["messages_url"])
    payload = job_of(await pops.pop(await pops.world.account(), chat=declared))["payload"]

    assert payload["messages"]
    assert [row["image_transport"] for row in await pops.world.generations(request)] == [None]


async def test_a_paused_worker_gets_a_link_like_everybody(pops: Pops) -> None:
    request = await offloaded(pops)
    owner = await pops.world.account()
    declared = chat_declaration(image_transports=["messages_url"])
    await pops.pop(owner, models=["another/model"], chat=None)
    await pops.world.change_worker("worker", paused=True)

    payload = job_of(await pops.pop(owner, chat=declared))["payload"]

    assert "messages_url" in payload
    (row,) = await pops.world.generations(request)
    assert (row["fake"], row["image_transport"]) == (True, "messages_url")
