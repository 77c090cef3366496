"""`horde chat` against a running gateway."""

import asyncio
import json
import os
import pty
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.running_gateway import running
from tests.fakes.told_request import MODEL, ToldRequest

PNG = bytes.fromhex("89504e470d0a1a0a")
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
"""A terminal that knows no letter outside ASCII."""


async def begin(
    url: str, *words: str | bytes, stdin: int = asyncio.subprocess.PIPE, env: Mapping[str, str] | None = None
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "horde", "chat", *words, "--url", url),
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )


@contextmanager
def a_terminal() -> Iterator[tuple[int, int]]:
    """What somebody types into, and where the command reads it."""
    typed, read = pty.openpty()
    try:
        yield typed, read
    finally:
        os.close(typed)
        os.close(read)


async def end(process: asyncio.subprocess.Process, stdin: bytes | None = None) -> tuple[int | None, str, str]:
    async with asyncio.timeout(30):
        out, aside = await process.communicate(stdin)
    return process.returncode, out.decode(), aside.decode()


async def told_by(
    words: list[str | bytes], story: Callable[[ToldRequest], None], env: Mapping[str, str] | None = None
) -> tuple[ToldRequest, int | None, str, str]:
    told = ToldRequest()
    async with running(told) as gateway:
        process = await begin(gateway.url, *words, env=env)
        await told.asked_for("WatchRequest")
        story(told)
        return told, *await end(process)


async def test_a_reply_is_streamed_to_stdout_and_its_price_to_stderr() -> None:
    def story(told: ToldRequest) -> None:
        told.post(1, "It is ", reasoning="Hm. ")
        told.store("It is blue. 🦊", reasoning_content="Hm. ", prompt_tokens=5, completion_tokens=4)

    told, code, out, aside = await told_by(["What colour?"], story)
    assert (code, out) == (0, "It is blue. 🦊\n")
    assert "Hm." in aside
    assert f"{MODEL} · by a worker · 5 + 4 tokens · 12.5 kudos · 1.5 s in the queue" in aside
    assert told.submitted()["model"] == MODEL
    assert told.submitted()["messages"] == [{"role": "user", "content": "What colour?"}]


async def test_json_is_one_object_with_everything() -> None:
    words: list[str | bytes] = ["Hi", "--json", "--model", MODEL, "--temperature", "0.2", "--max-tokens", "64"]
    told, code, out, _ = await told_by(words, lambda told: told.store("Ho"))
    assert code == 0
    assert (told.submitted()["temperature"], told.submitted()["max_tokens"]) == (0.2, 64)
    answered = json.loads(out)
    assert (answered["content"], answered["finish_reason"], answered["model"]) == ("Ho", "stop", MODEL)
    assert answered["horde"]["kudos"] == 12.5


async def test_pictures_go_along(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "b.png").write_bytes(PNG)
    words: list[str | bytes] = [f"/image {tmp_path / 'a.png'} What is this?", "--image", str(tmp_path / "b.png")]
    told, code, _, _ = await told_by(words, lambda told: told.store("A dot."))
    assert code == 0
    content = told.submitted()["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    assert content[0]["image_url"]["url"].startswith("data:image/png;base64,iVBO")


async def test_ctrl_c_cancels_the_request() -> None:
    told = ToldRequest()
    async with running(told) as gateway:
        process = await begin(gateway.url, "Hi")
        await told.asked_for("WatchRequest")
        told.post(1, "On and ")
        assert process.stdout is not None
        assert await process.stdout.read(3) == b"On "
        process.send_signal(signal.SIGINT)
        await told.asked_for("CancelRequest")
        code, _, aside = await end(process)
    assert code == 130
    assert "cancelled" in aside


@pytest.mark.parametrize("stage", ["before", "inside"])
async def test_a_no_is_one_line_and_an_exit_code(stage: str) -> None:
    told = ToldRequest()
    async with running(told) as gateway:
        if stage == "before":
            told.answers["AdmitChat"] = Refusal(reasons.KUDOS_UPFRONT, "It did not work.")
        process = await begin(gateway.url, "Hi")
        if stage == "inside":
            await told.asked_for("WatchRequest")
            told.post(1, "Be")
            told.fault("It did not work.", "ChatWorkerFault")
        code, _, aside = await end(process)
    assert code == 1
    assert "It did not work." in aside
    assert "Traceback" not in aside


async def test_a_pipe_is_asked_as_it_comes() -> None:
    told = ToldRequest()
    async with running(told) as gateway:
        process = await begin(gateway.url)
        ending = asyncio.create_task(end(process, b"From a pipe"))
        await told.asked_for("WatchRequest")
        told.store("ok")
        assert (await ending)[0] == 0
    assert told.submitted()["messages"][0]["content"] == "From a pipe"


async def test_nobody_there_is_one_line() -> None:
    code, _, aside = await end(await begin("http://127.0.0.1:1", "Hi"))
    assert code == 2
    assert aside == "horde: cannot reach a horde at http://127.0.0.1:1; is it up?\n"


def refused() -> Any:
    return Refusal(reasons.KUDOS_UPFRONT, "It did not work.")


@pytest.mark.parametrize("failing", ["refused", "interrupted", "unreadable"])
async def test_the_pictures_of_a_message_that_was_not_answered_are_gone_with_it(failing: str, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    told = ToldRequest()
    admit = told.answers["AdmitChat"]
    with a_terminal() as (typed, read):
        async with running(told) as gateway:
            process = await begin(gateway.url, stdin=read)
            if failing == "unreadable":
                os.write(typed, f"/image {tmp_path}/a.png /image {tmp_path}/b.png One\n".encode())
            else:
                if failing == "refused":
                    told.answers["AdmitChat"] = refused()
                os.write(typed, f"/image {tmp_path}/a.png One\n".encode())
                await told.asked_for("AdmitChat")
                told.answers["AdmitChat"] = admit
            if failing == "interrupted":
                await told.asked_for("WatchRequest")
                process.send_signal(signal.SIGINT)
                await told.asked_for("CancelRequest")
            asked = told.count("WatchRequest")
            os.write(typed, b"Two\n")
            await told.asked_for("WatchRequest", asked + 1)
            told.store("ok")
            os.write(typed, b"/quit\n")
            assert (await end(process))[0] == 0
    assert told.submitted()["messages"] == [{"role": "user", "content": "Two"}]


async def test_a_picture_on_a_line_of_its_own_goes_with_the_next_message(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    told = ToldRequest()
    with a_terminal() as (typed, read):
        async with running(told) as gateway:
            process = await begin(gateway.url, stdin=read)
            os.write(typed, f"/image {tmp_path}/a.png\nWhat is this?\n/quit\n".encode())
            await told.asked_for("WatchRequest")
            told.store("A dot.")
            assert (await end(process))[0] == 0
    assert [part["type"] for part in told.submitted()["messages"][0]["content"]] == ["image_url", "text"]


@pytest.mark.parametrize("words", [[""], [" "], ["/image {}/a.png"], []])
async def test_nothing_to_ask_is_said_in_one_line(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    told = ToldRequest()
    async with running(told) as gateway:
        code, out, aside = await end(await begin(gateway.url, *(word.format(tmp_path) for word in words)), b"")
    assert (code, out) == (2, "")
    assert aside.startswith("horde: there is nothing to ask")
    assert aside.count("\n") == 1
    assert told.count("AdmitChat") == 0


async def test_a_no_in_the_middle_of_a_reply_begins_a_line_of_its_own() -> None:
    told = ToldRequest()
    async with running(told) as gateway:
        process = await begin(gateway.url, "Hi")
        await told.asked_for("WatchRequest")
        told.post(1, "ab")
        assert process.stdout is not None
        assert await process.stdout.readexactly(2) == b"ab"
        told.fault("It did not work.", "ChatWorkerFault")
        assert await end(process) == (1, "\n", "horde chat: It did not work.\n")


@pytest.mark.parametrize(
    ("words", "stdin"), [([], b"caf\xe9\xff"), ([b"caf\xe9\xff"], b""), (["Hi", "--model", b"caf\xe9"], b"")]
)
@pytest.mark.parametrize("env", [{}, ASCII], ids=["usual", "ascii"])
async def test_text_that_is_none_is_said_in_one_line(
    words: list[str | bytes], stdin: bytes, env: dict[str, str]
) -> None:
    async with running(ToldRequest()) as gateway:
        code, out, aside = await end(await begin(gateway.url, *words, env=env), stdin)
    assert (code, out) == (2, "")
    assert "UTF-8" in aside
    assert aside.count("\n") == 1


@pytest.mark.parametrize("how", ["argument", "pipe", "typed"])
async def test_every_letter_arrives_where_the_terminal_knows_only_ascii(how: str) -> None:
    told = ToldRequest()
    with a_terminal() as (typed, read):
        async with running(told) as gateway:
            os.write(typed, "Who? 🦊\n/quit\n".encode())
            words = ["Who? 🦊"] if how == "argument" else []
            process = await begin(
                gateway.url, *words, stdin=read if how == "typed" else asyncio.subprocess.PIPE, env=ASCII
            )
            ending = asyncio.create_task(end(process, "Who? 🦊".encode() if how == "pipe" else None))
            await told.asked_for("WatchRequest")
            told.store("A 🦊.")
            code, out, _ = await ending
    assert code == 0
    assert "A \\U0001f98a.\n" in out
    assert told.submitted()["messages"][0]["content"] == "Who? 🦊"


async def test_json_is_json_on_a_terminal_that_knows_only_ascii() -> None:
    _, code, out, _ = await told_by(["Hi", "--json"], lambda told: told.store("A 🦊."), env=ASCII)
    assert (code, json.loads(out)["content"]) == (0, "A 🦊.")


@pytest.mark.parametrize(
    ("option", "value"), [("--api-key", "ké🦊"), ("--api-key", "a\nb"), ("--url", "http://[::1"), ("--url", "nowhere")]
)
async def test_an_option_that_cannot_be_sent_is_said_in_one_line(option: str, value: str) -> None:
    # the gateway is there, so that nothing but the option is wrong
    async with running(ToldRequest()) as gateway:
        words = ["Hi", option, value] if option == "--api-key" else ["Hi"]
        code, out, aside = await end(await begin(value if option == "--url" else gateway.url, *words))
    assert (code, out) == (2, "")
    assert aside.startswith("horde: ")
    assert aside.count("\n") == 1
    if option == "--api-key":
        assert value not in aside


async def test_an_address_of_something_else_is_said_in_one_line() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        code, out, aside = await end(await begin(f"http://127.0.0.1:{port}", "Hi"))
    assert (code, out) == (1, "")
    assert aside == "horde chat: HTTP 200, and no word why; is this a horde?\n"
