"""Whether a prompt is refused, rewritten or left alone. base-domain 8, decision 15, reading R22."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.moderation.rules.built_in_words import emoji_of_youth, has_words_of_youth, made_adult, without_emojis
from services.moderation.rules.evidence import Path
from services.moderation.rules.normalising import has_words, normalised, readings

DETECTION = 10
"""The type whose rows are also the replacement list."""

GROUPS = ((DETECTION, 11), (20,))
"""Filter types by group; the suspicion of a prompt is the number of groups with a match."""

USED_TYPES = tuple(kind for group in GROUPS for kind in group)

_REFUSED_FROM = 2
_LONGEST_REPLACED = 7000
"""Characters of a prompt that the filters refuse and that may still be rewritten instead. base-domain 8.2."""

_ROUNDS = 5
"""Of replacing in one text. Who nests a word deeper in itself than this loses the text."""


class Filters(Protocol):
    """The compiled filters. A pattern that takes too long counts as one that matches: slowness must not be a way in."""

    def find(self, kind: int, text: str) -> str | None:
        """What a filter of type `kind` finds first in `text`; None: nothing."""
        ...

    def replace(self, text: str) -> str:
        """`text` after the replacements of type 10; empty when one took too long."""
        ...


@dataclass(frozen=True, slots=True)
class Proxy:
    """The service that the prompt came through: the address it called from, and the alias of its account."""

    address: str
    owner: str


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
    wants_replacement: bool = False
    """Rather than a refusal by the filters: the account is for education, or the submission asks for it."""
    proxied_account: str | None = None
    proxy: Proxy | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """The prompt may go on with these texts."""

    texts: tuple[str, ...]
    rewritten: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """The prompt is refused. `too_long`: it would have been rewritten, were it shorter."""

    path: Path
    too_long: bool = False


type Verdict = Passed | Rejected


def screen(ask: PromptAsk, filters: Filters) -> Verdict:
    """The verdict. All of the prompt is judged: a text prompt has no negative part that `###` would begin."""
    raw, plain = readings(ask.prompt)
    refused = len(findings(raw, plain, filters)) >= _REFUSED_FROM
    if refused and not ask.wants_replacement:
        return Rejected(Path.FILTER)
    if refused and len(ask.prompt) > _LONGEST_REPLACED:
        return Rejected(Path.FILTER, too_long=True)
    unfit = ask.flagged or (ask.nsfw_model and _is_unfit(raw, plain, filters))
    if not refused and not unfit:
        return Passed(ask.texts, rewritten=False)
    texts = _replaced(ask, filters, adult=unfit)
    if not is_emptied(ask.texts, texts):
        return Passed(texts, rewritten=texts != ask.texts)
    # The filters are to blame for what their own replacement leaves empty, the model for what goes beyond it.
    by_filters = refused and (not unfit or is_emptied(ask.texts, _replaced(ask, filters, adult=False)))
    return Rejected(Path.FILTER if by_filters else Path.MODEL)


def _replaced(ask: PromptAsk, filters: Filters, *, adult: bool) -> tuple[str, ...]:
    return tuple(rewritten(text, filters, adult=adult) for text in ask.texts)


def findings(raw: str, plain: str, filters: Filters, only: int | None = None) -> list[str]:
    """What each group finds first; their number, 0 to 2, is the suspicion of the prompt.

    `raw` and `plain` are its readings; emojis are looked for in `raw`. `only`: filters of this type alone.
    """
    found = [_first(raw, plain, filters, [kind for kind in group if only in (None, kind)]) for group in GROUPS]
    return [one for one in found if one is not None]


def _first(raw: str, plain: str, filters: Filters, kinds: Sequence[int]) -> str | None:
    for kind in kinds:
        found = filters.find(kind, plain)
        if found is not None:
            return found
    return emoji_of_youth(raw) if DETECTION in kinds else None


def rewritten(text: str, filters: Filters, *, adult: bool) -> str:
    """One text with every match replaced; as it was when nothing matches; empty when no word is left.

    The emojis that type 10 matches are taken out: they have no replacement. `adult`: the built-in words too.

    What matches only in its normalised form, or only after a replacement, was disguised: such a text is replaced as a
    whole by that form.
    """
    cleaned = _replaced_in(without_emojis(text), filters, adult=adult)
    for _ in range(_ROUNDS):
        plain = normalised(cleaned)
        if filters.find(DETECTION, plain) is None and not (adult and has_words_of_youth(plain)):
            break
        again = _replaced_in(plain, filters, adult=adult)
        if again == cleaned:  # what is found is replaced by itself
            break
        cleaned = again
    else:
        return ""
    if cleaned == text or has_words(cleaned):
        return cleaned
    return ""


def _replaced_in(text: str, filters: Filters, *, adult: bool) -> str:
    text = filters.replace(text)
    return made_adult(text) if adult else text


def is_emptied(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the rewrite left nothing of what was there, judged on the texts alone."""
    return any(text.strip() for text in before) and not any(text.strip() for text in after)


def _is_unfit(raw: str, plain: str, filters: Filters) -> bool:
    """Whether a prompt must not reach an NSFW model as it is: a built-in word, or what type 10 finds."""
    return has_words_of_youth(plain) or _first(raw, plain, filters, [DETECTION]) is not None
