"""A post of a worker: which ones can be judged at all, and what the judgement means."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from horde.contract import reasons
from horde.contract.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Delta:
    """What a generation said since its previous post."""

    generation_id: str
    seq: int
    content: str
    reasoning_content: str


class Outcome(StrEnum):
    """What the script says of a post; the words stand in its header."""

    APPENDED = "appended"
    REPEATED = "repeated"
    ABSENT = "absent"
    WRONG_KEY = "wrong_key"
    OUT_OF_SEQUENCE = "out_of_sequence"
    CAPPED = "capped"


class Renewal(StrEnum):
    """What a post did to the job's lease."""

    GRANTED = "granted"
    AT_CAP = "at_cap"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of a post. `seq` is the accepted one, or the expected one when it was out of sequence."""

    outcome: Outcome
    seq: int = 0
    is_cancelled: bool = False
    renewal: Renewal = Renewal.NONE
    job_ttl_seconds: int = 0
    is_trusted: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A post that could not be judged; it may be sent again."""

    why: str


def checked(delta: Delta) -> Delta:
    """The post as it is judged and stored. Raises Refusal: BadRequest, or ChatJobAborted for an id that names nothing.

    NUL becomes U+FFFD, as it does in the reply that is stored at the end, so that a reader can reconcile the two.
    """
    if not delta.content and not delta.reasoning_content:
        raise Refusal(reasons.BAD_REQUEST, "'delta' must carry 'content' or 'reasoning_content'.")
    try:
        generation_id = str(UUID(delta.generation_id))
    except ValueError:
        raise Refusal(reasons.CHAT_JOB_ABORTED, "There is no such generation; stop generating.") from None
    return Delta(generation_id, delta.seq, _without_nul(delta.content), _without_nul(delta.reasoning_content))


def require_accepted(verdict: Verdict) -> None:
    """Raises the Refusal of a post that was judged and not accepted. ABSENT is not judged here: see `without_lease`."""
    match verdict.outcome:
        case Outcome.WRONG_KEY:
            raise Refusal(reasons.WRONG_CREDENTIALS, "The API key is not the key of the worker's owner.")
        case Outcome.OUT_OF_SEQUENCE:
            raise Refusal(
                reasons.CHAT_PROGRESS_OUT_OF_SEQUENCE,
                f"'seq' is out of sequence: {verdict.seq} is expected.",
                {"expected_seq": verdict.seq},
            )
        case Outcome.CAPPED:
            raise Refusal(
                reasons.CHAT_PROGRESS_CAP_REACHED,
                "The generation posted as much as it may. Stop posting and submit the whole reply.",
            )
        case Outcome.APPENDED | Outcome.REPEATED | Outcome.ABSENT:
            return


def without_lease(*, is_alive: bool) -> Refusal:
    """Why a post without a lease is refused. `is_alive`: the generation is stored and not faulted."""
    if is_alive:
        return Refusal(
            reasons.CHAT_PROGRESS_NOT_STREAMING,
            "The generation takes no progress: it is not streamed, was submitted or is past its lease. "
            "Stop posting and submit the reply.",
        )
    return Refusal(reasons.CHAT_JOB_ABORTED, "The generation was aborted or is gone. Stop generating; do not submit.")


def _without_nul(text: str) -> str:
    return text.replace("\0", "\ufffd") if "\0" in text else text
