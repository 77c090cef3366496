"""What a webhook may do to whoever tells it something."""

import asyncio

from services.moderation.neighbours import Discord


async def test_a_discord_that_never_ends_its_answer_has_not_taken_the_notice() -> None:
    async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 204 No Content\r\n")
        while not writer.is_closing():
            writer.write(b"x: y\r\n")
            await asyncio.sleep(0.1)
        writer.close()
        await reader.read()

    async with await asyncio.start_server(dripping, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        assert not await asyncio.wait_for(Discord(f"http://127.0.0.1:{port}/").tell("a notice"), 20)
