"""What moderators are told of addresses that are kept out. Never a prompt, never an address. moderation.md A6."""

from urllib.parse import urlsplit

_PSEUDONYM_CHARACTERS = 12
_LONGEST_NAME = 60


def model_timeout(
    subject_key: str | None, *, count: int, minutes: int, event_id: int | None, frontpage_url: str | None
) -> str:
    """The first timeout of an hour that a subject's model rejections earned. `event_id` None: evidence was lost."""
    whom = f"IP subject {subject_key[:_PSEUDONYM_CHARACTERS]}" if subject_key else "An unnamed IP subject"
    lines = [
        f"{whom} is timed out for {minutes} minutes after model rejections",
        f"{count} model rejections in this hour" if count else "the model rejections of this hour could not be counted",
        *review(event_id, frontpage_url),
    ]
    return "\n".join(lines)


def proxy_suspicion(owner: str, *, count: int) -> str:
    """A service through which more rejected prompts came within an hour than are forgiven."""
    name = escaped(owner[:_LONGEST_NAME]) if owner else "an unknown account"
    return f"{count} rejected prompts in this hour came through the proxy of {name}"


def review(event_id: int | None, frontpage_url: str | None) -> tuple[str, ...]:
    """Which event shows it, and where it is read."""
    if event_id is None:
        return ("the evidence could not be written",)
    if not is_usable(frontpage_url):
        return (f"event {event_id}", "open it in the frontpage's Prompts tab")
    return (f"event {event_id}", f"{(frontpage_url or '').rstrip('/')}/admin/review?tab=prompts&event_id={event_id}")


def is_usable(frontpage_url: str | None) -> bool:
    """Whether a link can be made of it: an absolute http(s) address with a host."""
    if frontpage_url is None:
        return False
    try:
        parts = urlsplit(frontpage_url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def escaped(text: str) -> str:
    """A name that somebody chose for themselves, without power over the message's markup, lines and direction."""
    seen = (char if char.isprintable() else " " for char in text)
    return "".join(f"\\{char}" if char in "\\*_~`|>#[]()<@:" else char for char in seen)
