"""What a watcher of a request sees: entries of its stream and signals, and what dispatch may ask of them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a running reply."""

    generation_id: str
    seq: int
    content: str
    reasoning_content: str
    worker_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The generation faulted or was cancelled: nothing of it follows."""

    generation_id: str


@dataclass(frozen=True, slots=True)
class Signal:
    """One message on the completion channel. Never carries generated text."""

    event: str
    generations: int
    fault_reason: str | None = None
    fault_rc: str | None = None


@dataclass(frozen=True, slots=True)
class Subscribed:
    """From here on no event is missed."""


type Event = Subscribed | Piece | Ended | Signal


@dataclass(frozen=True, slots=True)
class Changes:
    """Watches that a caller begins, each a request under a number of the caller's, and the numbers that it ends."""

    begun: Sequence[tuple[int, str]]
    ended: Sequence[int]


@dataclass(frozen=True, slots=True)
class Lost:
    """Nothing more is told of a watch."""

    why: str


type Told = tuple[int, Event | Lost]
"""What a watch found, behind its number."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What one generation posted before its request was cancelled. `characters` None: the stream cannot tell."""

    generation_id: str
    characters: int | None
    accepted_bytes: int


def read_entry(fields: Mapping[bytes, bytes]) -> Piece | Ended:
    """An entry of the stream, as `append_progress` and the ending scripts write it."""
    generation_id = fields[b"gen"].decode()
    if b"ended" in fields:
        return Ended(generation_id)
    return Piece(
        generation_id,
        int(fields[b"seq"]),
        fields[b"content"].decode("utf-8", "replace"),
        fields.get(b"reasoning_content", b"").decode("utf-8", "replace"),
        fields.get(b"worker", b"").decode(),
        fields.get(b"model", b"").decode("utf-8", "replace"),
    )


def write_signal(request_id: str, signal: Signal) -> str:
    """The JSON of a signal, exactly as the chat reference's Completion signal gives it."""
    body: dict[str, str | int] = {"id": request_id, "event": signal.event, "generations": signal.generations}
    if signal.fault_reason is not None:
        body["fault_reason"] = signal.fault_reason
    if signal.fault_rc is not None:
        body["fault_rc"] = signal.fault_rc
    return json.dumps(body)


def read_signal(body: bytes) -> Signal | None:
    """The signal in a message of the channel; None when it is not one of ours."""
    try:
        read = json.loads(body)
        return Signal(str(read["event"]), int(read["generations"]), read.get("fault_reason"), read.get("fault_rc"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def posted(
    generation_ids: Sequence[str], accepted: Mapping[str, tuple[int, int]], entries: Iterable[Piece | Ended]
) -> list[Posted]:
    """What each generation posted; `accepted` holds (last seq, bytes) of every lease that still stands.

    The stream is trimmed from its start and expires: when it holds fewer entries than the lease accepted, it cannot
    tell.
    """
    characters = dict.fromkeys(generation_ids, 0)
    counts = dict.fromkeys(generation_ids, 0)
    for entry in entries:
        if isinstance(entry, Piece) and entry.generation_id in characters:
            characters[entry.generation_id] += len(entry.content)
            counts[entry.generation_id] += 1
    answers = []
    for generation_id in characters:
        seq, size = accepted.get(generation_id, (counts[generation_id], 0))
        is_whole = counts[generation_id] == seq and (generation_id in accepted or seq > 0)
        answers.append(Posted(generation_id, characters[generation_id] if is_whole else None, size))
    return answers
