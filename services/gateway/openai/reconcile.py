"""Which text of a running reply may go out, and what is left to say at its end. Contract: clients-and-front 3.6.

Text that was sent cannot be taken back. So exactly one generation is relayed, and the stored reply is compared with
what went out: it has to continue it, or the stream has failed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from services.gateway.openai.reply import Ended, Piece, Reply


class Diverged(Exception):
    """The stored reply does not begin with what was already sent."""


@dataclass(frozen=True, slots=True)
class Said:
    """Text to send now; one of the two may be empty."""

    reasoning: str
    content: str


@dataclass(slots=True)
class Relay:
    """The state of one stream. `buffered`: nothing goes out before the stored reply."""

    buffered: bool
    include_reasoning: bool
    # The first piece that went out: its worker and model are those of every chunk.
    first: Piece | None = None
    # Generations that ended with nothing of theirs sent.
    silent_restarts: int = 0
    _generation: str | None = None
    _seq: int = 0
    _held: bool = False
    _over: set[str] = field(default_factory=set)
    _reasoning: list[str] = field(default_factory=list)
    _content: list[str] = field(default_factory=list)

    def take(self, events: Iterable[Piece | Ended]) -> Said:
        """What of the events may go out now."""
        if self.buffered:
            return Said("", "")
        events = tuple(events)
        # First, so that a reader who starts late does not begin with a generation that is known to be over.
        for event in events:
            if isinstance(event, Ended):
                self._end(event.generation_id)
        reasoning: list[str] = []
        content: list[str] = []
        for event in events:
            if isinstance(event, Piece) and self._follows(event):
                self._accept(event, reasoning, content)
        self._reasoning += reasoning
        self._content += content
        return Said("".join(reasoning), "".join(content))

    def finish(self, reply: Reply) -> Said:
        """What of the stored reply was not sent yet. Raises Diverged."""
        sent = "".join(self._content)
        left = _rest(reply.content or "", sent)
        if not self.include_reasoning:
            return Said("", left)
        return Said(_rest(reply.reasoning or "", "".join(self._reasoning)), left)

    def is_continued_by(self, reply: Reply) -> bool:
        """Whether the stored reply is of another generation than the one that was relayed."""
        return self.first is not None and self.first.generation_id != reply.generation_id

    def _end(self, generation_id: str) -> None:
        if generation_id in self._over:
            return
        self._over.add(generation_id)
        if generation_id != self._generation:
            return
        if self.first is None:
            self._generation, self._seq, self._held = None, 0, False
            self.silent_restarts += 1
        else:
            self._held = True

    def _follows(self, piece: Piece) -> bool:
        """Whether the piece is the next one of the generation that is relayed. A repeat is not; a gap ends relaying."""
        if piece.generation_id in self._over or self._held:
            return False
        if self._generation is None:
            self._generation = piece.generation_id
        if piece.generation_id != self._generation or piece.seq <= self._seq:
            return False
        if piece.seq != self._seq + 1 or not piece.model:
            # The stream was trimmed, or its lease cannot tell the model that every chunk names: the reply has all.
            self._held = True
            return False
        self._seq = piece.seq
        return True

    def _accept(self, piece: Piece, reasoning: list[str], content: list[str]) -> None:
        thought = piece.reasoning if self.include_reasoning else ""
        if not thought and not piece.content:
            return
        if self.first is None:
            self.first = piece
        # Stored replies hold U+FFFD in place of NUL, and the two have to compare equal.
        if thought:
            reasoning.append(thought.replace("\0", "\ufffd"))
        if piece.content:
            content.append(piece.content.replace("\0", "\ufffd"))


def _rest(whole: str, sent: str) -> str:
    if not whole.startswith(sent):
        raise Diverged
    return whole[len(sent) :]
