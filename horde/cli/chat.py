"""`horde chat`: a client in the terminal, over the same wire as every other client of the OpenAI front."""

import base64
import json
import mimetypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console

from horde.failures import StartError

ANONYMOUS_KEY = "0000000000"
"""The account of everybody who has none."""

_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
"""A stream says every ten seconds that it lives, so a minute of silence is the end of it."""

_REFUSED, _INTERRUPTED = 1, 130
"""Exit codes: the horde said no; Ctrl-C, as shells count it."""

_HELP = "Write a message; /image PATH adds a picture to it, /model NAME changes the model, /quit leaves."

type Message = dict[str, Any]


class SaidNo(Exception):
    """The horde refused, or failed half way. The message is for the user."""


@dataclass
class Answered:
    """A reply as it was put together from its stream."""

    content: str = ""
    reasoning: str = ""
    finish_reason: str | None = None
    model: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    horde: Mapping[str, Any] = field(default_factory=dict)

    def add(self, chunk: Mapping[str, Any]) -> tuple[str, str]:
        """Takes one chunk in; gives the reasoning and the content that it brought."""
        self.model = chunk.get("model") or self.model
        self.usage = chunk.get("usage") or self.usage
        self.horde = chunk.get("horde") or self.horde
        reasoning = content = ""
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            reasoning += delta.get("reasoning_content") or ""
            content += delta.get("content") or ""
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
        self.reasoning += reasoning
        self.content += content
        return reasoning, content

    def summary(self) -> str:
        """Who answered, and what it took."""
        worker = (self.horde.get("worker") or {}).get("name")
        counted = "about " if self.horde.get("usage_estimated") else ""
        parts = [
            str(self.model),
            f"by {worker}" if worker else "",
            f"{counted}{self.usage.get('prompt_tokens', 0)} + {self.usage.get('completion_tokens', 0)} tokens",
            f"{self.horde['kudos']:g} kudos" if "kudos" in self.horde else "",
            f"{self.horde['queue_wait_seconds']:.1f} s in the queue" if "queue_wait_seconds" in self.horde else "",
            "" if self.finish_reason in {None, "stop"} else f"ended by {self.finish_reason}",
        ]
        return " · ".join(part for part in parts if part)


def chat(
    text: Annotated[
        str | None, typer.Argument(help="What to ask. Without it: a conversation, or the text of a pipe.")
    ] = None,
    *,
    url: Annotated[str, typer.Option(help="The horde.", envvar="HORDE_URL")] = "http://127.0.0.1:7001",
    api_key: Annotated[str, typer.Option(help="Your API key.", envvar="HORDE_API_KEY")] = ANONYMOUS_KEY,
    model: Annotated[str | None, typer.Option(help="The model; default: the first that is served.")] = None,
    image: Annotated[list[Path] | None, typer.Option(help="A picture to ask about; may be repeated.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="How long the reply may be.")] = None,
    temperature: Annotated[float | None, typer.Option(help="How freely the model chooses its words.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each reply as one JSON object when it ends.")] = False,
) -> None:
    """Ask a question and stream the reply. Ctrl-C cancels it."""
    client = httpx.Client(
        base_url=f"{url.rstrip('/')}/v1",
        headers={"authorization": f"Bearer {api_key}", "client-agent": "horde-chat:1:chat-horde"},
        timeout=_TIMEOUT,
        trust_env=False,
    )
    terminal = Terminal(as_json=as_json)
    with client, _told(terminal, url):
        wishes = {"max_tokens": max_tokens, "temperature": temperature}
        asked = {key: value for key, value in wishes.items() if value is not None}
        asking = Conversation(client, model or _first_model(client), asked, terminal)
        for path in image or ():
            asking.attach(path)
        if text is None and sys.stdin.isatty():
            asking.run()
        else:
            asking.ask(sys.stdin.read() if text is None else text)


class Terminal:
    """What the user sees: the reply on stdout, everything else on stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._out = Console(highlight=False, markup=False, soft_wrap=True)
        self._aside = Console(stderr=True, highlight=False, markup=False, soft_wrap=True, style="dim")

    def say(self, reasoning: str, content: str) -> None:
        """A piece of a reply, as it comes."""
        if self._as_json:
            return
        if reasoning:
            self._aside.print(reasoning, end="")
        if content:
            # Plain: a reply may hold anything, and copying it must give what was sent.
            self._out.file.write(content)
            self._out.file.flush()

    def end(self, answered: Answered) -> None:
        """The reply is whole."""
        if self._as_json:
            self._out.file.write(json.dumps(vars(answered), ensure_ascii=False) + "\n")
            return
        self._out.file.write("\n")
        self._out.file.flush()
        self._aside.print(answered.summary())

    def note(self, sentence: str) -> None:
        """A word beside the reply."""
        self._aside.print(sentence)


class Conversation:
    """The messages so far, and one more at a time."""

    def __init__(self, client: httpx.Client, model: str, asked: Mapping[str, float | int], terminal: Terminal) -> None:
        self._client = client
        self._model = model
        self._asked = asked
        self._terminal = terminal
        self._messages: list[Message] = []
        self._pictures: list[str] = []

    def run(self) -> None:
        """Asks the user until there is nothing more to say."""
        self._terminal.note(f"{self._model}. {_HELP}")
        while True:
            try:
                line = input("> ").strip()
            except (EOFError, KeyboardInterrupt):
                return
            if line in {"/quit", "/exit"}:
                return
            if line.startswith("/model "):
                self._model = line.removeprefix("/model ").strip()
            elif line:
                self._try(line)

    def _try(self, line: str) -> None:
        try:
            self.ask(line)
        except (SaidNo, StartError) as no:
            self._terminal.note(f"\n{no}")
        except KeyboardInterrupt:
            self._terminal.note("\ncancelled")

    def ask(self, line: str) -> None:
        """Sends one message and shows the reply. `/image PATH` in front of it adds a picture.

        Raises SaidNo, after which the message counts as never said.
        """
        text = self._without_pictures(line)
        if not text:
            return
        said = {"role": "user", "content": self._content(text)}
        answered = Answered()
        for chunk in completion(self._client, self._body([*self._messages, said])):
            self._terminal.say(*answered.add(chunk))
        self._pictures.clear()
        self._messages += [said, {"role": "assistant", "content": answered.content}]
        self._terminal.end(answered)

    def attach(self, path: Path) -> None:
        """Adds a picture to the next message. Raises StartError when it cannot be read."""
        kind = mimetypes.guess_type(path.name)[0] or ""
        if not kind.startswith("image/"):
            raise StartError(f"{path} is no picture by its name; wanted is .png, .jpg, .webp or the like")
        try:
            packed = base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            raise StartError(f"{path} cannot be read: {error.strerror}") from None
        self._pictures.append(f"data:{kind};base64,{packed}")

    def _without_pictures(self, line: str) -> str:
        while line.startswith("/image "):
            path, _, line = line.removeprefix("/image ").strip().partition(" ")
            self.attach(Path(path).expanduser())
            line = line.strip()
        return line

    def _content(self, text: str) -> str | list[Message]:
        if not self._pictures:
            return text
        pictures: list[Message] = [{"type": "image_url", "image_url": {"url": url}} for url in self._pictures]
        return [*pictures, {"type": "text", "text": text}]

    def _body(self, messages: Sequence[Message]) -> Message:
        return {
            "model": self._model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._asked,
        }


def completion(client: httpx.Client, body: Message) -> Iterator[Mapping[str, Any]]:
    """The chunks of one completion. Leaving early cancels it. Raises SaidNo."""
    with client.stream("POST", "/chat/completions", json=body) as response:
        if response.status_code != httpx.codes.OK:
            response.read()
            raise SaidNo(_said(response))
        for line in response.iter_lines():
            if not line.startswith("data: "):
                continue
            data = line.removeprefix("data: ")
            if data == "[DONE]":
                return
            chunk = json.loads(data)
            if "error" in chunk:
                raise SaidNo(str(chunk["error"].get("message")))
            yield chunk
    raise SaidNo("The connection ended before the reply did.")


def _first_model(client: httpx.Client) -> str:
    response = client.get("/models")
    if response.status_code != httpx.codes.OK:
        raise SaidNo(_said(response))
    models = response.json()["data"]
    if not models:
        raise SaidNo("No worker serves a chat model now.")
    return str(models[0]["id"])


def _said(response: httpx.Response) -> str:
    try:
        error = response.json()["error"]
        return str(error["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {response.status_code}, and no word why; is this a horde?"


@contextmanager
def _told(terminal: Terminal, url: str) -> Iterator[None]:
    """Turns what can go wrong into one line and an exit code."""
    try:
        yield
    except SaidNo as no:
        terminal.note(f"horde chat: {no}")
        raise typer.Exit(_REFUSED) from None
    except httpx.ConnectError:
        raise StartError(f"cannot reach a horde at {url}; is it up?") from None
    except httpx.HTTPError as error:
        terminal.note(f"horde chat: the connection failed: {error}")
        raise typer.Exit(_REFUSED) from None
    except KeyboardInterrupt:
        # The connection is closed by now, and the front cancels what nobody waits for.
        terminal.note("cancelled")
        raise typer.Exit(_INTERRUPTED) from None
