"""`horde chat` against a running gateway."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.running_gateway import running
from tests.fakes.told_request import MODEL, ToldRequest

PNG = bytes.fromhex("89504e470d0a1a0a")


async def begin(url: str, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "horde", "chat", *words, "--url", url),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def end(process: asyncio.subprocess.Process, stdin: bytes | None = None) -> tuple[int | None, str, str]:
    async with asyncio.timeout(30):
        out, aside = await process.communicate(stdin)
    return process.returncode, out.decode(), aside.decode()


async def told_by(words: list[str], story: Callable[[ToldRequest], None]) -> tuple[ToldRequest, int | None, str, str]:
    told = ToldRequest()
    async with running(told) as gateway:
        process = await begin(gateway.url, *words)
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
    words = ["Hi", "--json", "--model", MODEL, "--temperature", "0.2", "--max-tokens", "64"]
    told, code, out, _ = await told_by(words, lambda told: told.store("Ho"))
    assert code == 0
    assert (told.submitted()["temperature"], told.submitted()["max_tokens"]) == (0.2, 64)
    answered = json.loads(out)
    assert (answered["content"], answered["finish_reason"], answered["model"]) == ("Ho", "stop", MODEL)
    assert answered["horde"]["kudos"] == 12.5


async def test_pictures_go_along(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "b.png").write_bytes(PNG)
    words = [f"/image {tmp_path / 'a.png'} What is this?", "--image", str(tmp_path / "b.png")]
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
