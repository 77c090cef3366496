"""`horde chat`: a client in the terminal, over the same wire as every other client of the OpenAI front."""

import base64
import io
import json
import mimetypes
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TextIO

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

_NO_HORDE = "HTTP {}, and no word why; is this a horde?"

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
    terminal = Terminal(as_json=as_json)
    with _told(terminal, url), _client(url, api_key) as client:
        wishes = {"max_tokens": max_tokens, "temperature": temperature}
        asked = {key: value for key, value in wishes.items() if value is not None}
        asking = Conversation(client, readable(model) if model else _first_model(client), asked, terminal)
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
        self._aside = Console(stderr=True, highlight=False, markup=False, soft_wrap=True, style="dim")
        # Where the last line was begun and is not ended.
        self._open: TextIO | None = None
        if isinstance(sys.stdin, io.TextIOWrapper):
            # What it cannot read is left to `readable`.
            sys.stdin.reconfigure(errors="surrogateescape")
        if isinstance(sys.stdout, io.TextIOWrapper):
            # What it cannot show is written as \U0001f98a, as on stderr: no reply is lost.
            sys.stdout.reconfigure(errors="backslashreplace")

    def say(self, reasoning: str, content: str) -> None:
        """A piece of a reply, as it comes."""
        if self._as_json:
            return
        if reasoning:
            self._aside.print(reasoning, end="")
            self._open = None if reasoning.endswith("\n") else sys.stderr
        if content:
            # Plain: a reply may hold anything, and copying it must give what was sent.
            sys.stdout.write(content)
            sys.stdout.flush()
            self._open = None if content.endswith("\n") else sys.stdout

    def end(self, answered: Answered) -> None:
        """The reply is whole."""
        if self._as_json:
            is_unicode = sys.stdout.encoding.lower().startswith("utf")
            sys.stdout.write(json.dumps(vars(answered), ensure_ascii=not is_unicode) + "\n")
            return
        sys.stdout.write("\n")
        sys.stdout.flush()
        self._open = None
        self._aside.print(answered.summary())

    def note(self, sentence: str) -> None:
        """A word beside the reply, on a line of its own."""
        if self._open is not None:
            self._open.write("\n")
            self._open.flush()
            self._open = None
        self._aside.print(sentence)

    def cancelled(self) -> None:
        """Ctrl-C, which terminals show as ^C on the line they are at."""
        self._open = self._open or sys.stderr
        self.note("cancelled")


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
            if line:
                self._try(line)

    def _try(self, line: str) -> None:
        try:
            if line.startswith("/model "):
                self._model = readable(line.removeprefix("/model ").strip())
                return
            text = self._without_pictures(line)
            if text:
                self._say(text)
        except (SaidNo, StartError) as no:
            self._terminal.note(str(no))
        except KeyboardInterrupt:
            self._terminal.cancelled()

    def ask(self, line: str) -> None:
        """Sends one message and shows the reply. `/image PATH` in front of it adds a picture.

        Raises SaidNo, after which the message counts as never said; StartError when there is nothing to send.
        """
        text = self._without_pictures(line)
        if not text.strip():
            raise StartError("there is nothing to ask; write a message, also beside a picture")
        self._say(text)

    def attach(self, path: Path) -> None:
        """Adds a picture to the next message. Raises StartError when it cannot be read."""
        self._pictures.append(_picture(path))

    def _without_pictures(self, line: str) -> str:
        """The text of a line, whose pictures go with the next message: all of them, or none when one is no picture."""
        pictures = []
        while line.startswith("/image "):
            path, _, line = line.removeprefix("/image ").strip().partition(" ")
            pictures.append(_picture(Path(path)))
            line = line.strip()
        text = readable(line)
        self._pictures += pictures
        return text

    def _say(self, text: str) -> None:
        pictures, self._pictures = self._pictures, []
        said = {"role": "user", "content": _content(text, pictures)}
        answered = Answered()
        for chunk in completion(self._client, self._body([*self._messages, said])):
            self._terminal.say(*answered.add(chunk))
        self._messages += [said, {"role": "assistant", "content": answered.content}]
        self._terminal.end(answered)

    def _body(self, messages: Sequence[Message]) -> Message:
        return {
            "model": self._model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._asked,
        }


def readable(text: str) -> str:
    """The text, read as UTF-8 where the terminal's own encoding could not. Raises StartError for what is no text.

    Python keeps each byte that it cannot read as a lone surrogate, which no JSON may hold.
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        raise StartError("what was written is no text in UTF-8") from None


def _content(text: str, pictures: Sequence[str]) -> str | list[Message]:
    if not pictures:
        return text
    shown: list[Message] = [{"type": "image_url", "image_url": {"url": url}} for url in pictures]
    return [*shown, {"type": "text", "text": text}]


def _picture(path: Path) -> str:
    """A file as a data URL. Raises StartError."""
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise StartError(f"{path} is no picture by its name; wanted is .png, .jpg, .webp or the like")
    try:
        packed = base64.b64encode(path.expanduser().read_bytes()).decode()
    except OSError as error:
        raise StartError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RuntimeError) as error:  # a NUL in the name, or a ~ that is nobody's
        raise StartError(f"{path} cannot be read: {error}") from None
    return f"data:{kind};base64,{packed}"


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


def _client(url: str, api_key: str) -> httpx.Client:
    """A client of the front. Raises StartError for a key that no header can hold."""
    if not (api_key.isascii() and api_key.isprintable()):
        raise StartError("the API key holds characters that no API key has")
    return httpx.Client(
        base_url=f"{url.rstrip('/')}/v1",
        headers={"authorization": f"Bearer {api_key}", "client-agent": "horde-chat:1:chat-horde"},
        timeout=_TIMEOUT,
        trust_env=False,
    )


def _first_model(client: httpx.Client) -> str:
    response = client.get("/models")
    if response.status_code != httpx.codes.OK:
        raise SaidNo(_said(response))
    try:
        models = [str(card["id"]) for card in response.json()["data"]]
    except (ValueError, KeyError, TypeError):
        raise SaidNo(_NO_HORDE.format(response.status_code)) from None
    if not models:
        raise SaidNo("No worker serves a chat model now.")
    return models[0]


def _said(response: httpx.Response) -> str:
    try:
        error = response.json()["error"]
        return str(error["message"])
    except (ValueError, KeyError, TypeError):
        return _NO_HORDE.format(response.status_code)


@contextmanager
def _told(terminal: Terminal, url: str) -> Iterator[None]:
    """Turns what can go wrong into one line and an exit code."""
    try:
        yield
    except SaidNo as no:
        terminal.note(f"horde chat: {no}")
        raise typer.Exit(_REFUSED) from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise StartError(f"{url} is no address of a horde; wanted is http://… or https://…") from None
    except httpx.ConnectError:
        raise StartError(f"cannot reach a horde at {url}; is it up?") from None
    except httpx.HTTPError as error:
        terminal.note(f"horde chat: the connection failed: {error}")
        raise typer.Exit(_REFUSED) from None
    except KeyboardInterrupt:
        # The connection is closed by now, and the front cancels what nobody waits for.
        terminal.cancelled()
        raise typer.Exit(_INTERRUPTED) from None
