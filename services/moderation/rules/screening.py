"""Whether a prompt is refused, rewritten or left alone. base-domain 8, decision 15, reading R22."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.moderation.rules.built_in_words import has_emoji_of_youth, has_words_of_youth, made_adult
from services.moderation.rules.evidence import Path
from services.moderation.rules.normalising import has_words, normalised

DETECTION = 10
"""The type whose rows are also the replacement list."""

GROUPS = ((DETECTION, 11), (20,))
"""Filter types by group; the suspicion of a prompt is the number of groups with a match."""

USED_TYPES = tuple(kind for group in GROUPS for kind in group)

_REFUSED_FROM = 2


class Filters(Protocol):
    """The compiled filters. A pattern that takes too long counts as one that matches: slowness must not be a way in."""

    def matches(self, kind: int, text: str) -> bool:
        """Whether a filter of type `kind` finds something in `text`."""
        ...

    def replace(self, text: str) -> str:
        """`text` after the replacements of type 10; empty when one took too long."""
        ...


@dataclass(frozen=True, slots=True)
class PromptAsk:
    """A prompt, its texts, and what is known of who sent it and for which models."""

    account_id: int
    flagged: bool
    moderator: bool
    address: str
    prompt: str
    texts: tuple[str, ...]
    models: tuple[str, ...]
    nsfw_model: bool
    request_id: str


@dataclass(frozen=True, slots=True)
class Passed:
    """The prompt may go on with these texts."""

    texts: tuple[str, ...]
    rewritten: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """The prompt is refused."""

    path: Path


type Verdict = Passed | Rejected


def screen(ask: PromptAsk, filters: Filters) -> Verdict:
    """The verdict. All of the prompt is judged: a text prompt has no negative part that `###` would begin."""
    plain = normalised(ask.prompt)
    if suspicion(ask.prompt, plain, filters) >= _REFUSED_FROM:
        return Rejected(Path.FILTER)
    if not _needs_rewriting(ask, plain, filters):
        return Passed(ask.texts, rewritten=False)
    texts = tuple(rewritten(text, filters) for text in ask.texts)
    if is_emptied(ask.texts, texts):
        return Rejected(Path.MODEL)
    return Passed(texts, rewritten=texts != ask.texts)


def suspicion(raw: str, plain: str, filters: Filters) -> int:
    """How many groups find something, 0 to 2. `plain` is the normalised prompt; emojis are looked for in `raw`."""
    found = [any(filters.matches(kind, plain) for kind in group) for group in GROUPS]
    found[0] = found[0] or has_emoji_of_youth(raw)
    return sum(found)


def rewritten(text: str, filters: Filters) -> str:
    """One text with every match replaced; as it was when nothing matches; empty when no word is left.

    What matches only in its normalised form was disguised: such a text is replaced as a whole by that form.
    """
    cleaned = made_adult(filters.replace(text))
    plain = normalised(cleaned)
    if filters.matches(DETECTION, plain) or has_words_of_youth(plain):
        cleaned = made_adult(filters.replace(plain))
    if cleaned == text or has_words(cleaned):
        return cleaned
    return ""


def is_emptied(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the rewrite left nothing of what was there, judged on the texts alone."""
    return any(text.strip() for text in before) and not any(text.strip() for text in after)


def _needs_rewriting(ask: PromptAsk, plain: str, filters: Filters) -> bool:
    if ask.flagged:
        return True
    return ask.nsfw_model and (has_words_of_youth(plain) or filters.matches(DETECTION, plain))
