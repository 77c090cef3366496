"""What becomes of every column in the end: the one list that retention, its constraints and its proof are made from.

Each step clears the columns of its fates. A column without a fate would outlive every promise, so moderation does not
start with one. moderation.md A4.4.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Fate(StrEnum):
    """When a column's value goes."""

    TEXT = "text"
    """At the text window, with the object in the evidence store."""
    ADDRESS = "address"
    """At the address window."""
    IDENTITY = "identity"
    """At the ceiling, with everything of the two above."""
    FLAG = "flag"
    """Says that a step ran."""
    KEEP = "keep"
    """Never: nothing in it is of a person."""


class Step(StrEnum):
    """The steps of a pass, in their order; the value is how metrics and the preview call it."""

    CEILING = "anonymized"
    TEXT = "text_redacted"
    ADDRESS = "ipaddr_redacted"
    PROBLEM_JOBS = "problem_jobs_deleted"
    PROBLEM_JOB_ADDRESSES = "problem_job_ipaddr_redacted"
    SUSPICIONS = "worker_suspicion_deleted"
    ACCESS_LOG = "access_log_deleted"


EVENT_COLUMN_RETENTION: Final[Mapping[str, Fate]] = MappingProxyType(
    {
        "id": Fate.KEEP,
        "created": Fate.KEEP,
        "user_id": Fate.IDENTITY,
        "proxied_account": Fate.IDENTITY,
        "request_id": Fate.IDENTITY,
        "job_id": Fate.IDENTITY,
        "worker_id": Fate.KEEP,
        "ipaddr": Fate.ADDRESS,
        "origin_text": Fate.ADDRESS,
        "ip_subject_key": Fate.IDENTITY,
        "models": Fate.KEEP,
        "reason": Fate.KEEP,
        "outcome": Fate.KEEP,
        "submitted_prompt": Fate.TEXT,
        "moderation_prompt": Fate.TEXT,
        "effective_prompt": Fate.TEXT,
        "text_state": Fate.TEXT,
        "text_sha256": Fate.TEXT,
        "text_chars": Fate.TEXT,
        "text_truncated": Fate.KEEP,
        "text_redacted": Fate.FLAG,
        "ipaddr_redacted": Fate.FLAG,
        "anonymized": Fate.FLAG,
    }
)

_CLEARED_TO: Final[Mapping[str, str]] = MappingProxyType({"text_state": "'none'"})
"""Columns that are not NULL when they are cleared."""

_FATES_OF: Final[Mapping[Step, Sequence[Fate]]] = MappingProxyType(
    {
        Step.CEILING: (Fate.IDENTITY, Fate.ADDRESS, Fate.TEXT),
        Step.TEXT: (Fate.TEXT,),
        Step.ADDRESS: (Fate.ADDRESS,),
    }
)

_FLAGS_OF: Final[Mapping[Step, Sequence[str]]] = MappingProxyType(
    {
        Step.CEILING: ("anonymized", "text_redacted", "ipaddr_redacted"),
        Step.TEXT: ("text_redacted",),
        Step.ADDRESS: ("ipaddr_redacted",),
    }
)


def columns_of(fate: Fate) -> tuple[str, ...]:
    """The event's columns with that fate, in the order of the table."""
    return tuple(column for column, its in EVENT_COLUMN_RETENTION.items() if its is fate)


def cleared_by(step: Step) -> tuple[str, ...]:
    """The event's columns that a step clears."""
    return tuple(column for fate in _FATES_OF[step] for column in columns_of(fate))


def assignments(step: Step) -> str:
    """What a step's UPDATE sets: its columns cleared, its flags raised."""
    cleared = [f"{column} = {_CLEARED_TO.get(column, 'NULL')}" for column in cleared_by(step)]
    return ", ".join([*cleared, *(f"{flag} = true" for flag in _FLAGS_OF[step])])


def constraints() -> dict[str, str]:
    """The CHECK that keeps each flag's promise, by name, without the blanks and parentheses that a database adds."""
    text = _num_nonnulls(column for column in columns_of(Fate.TEXT) if column not in _CLEARED_TO)
    gone_state = " AND ".join(f"{column} = {value}" for column, value in _CLEARED_TO.items())
    address = _num_nonnulls(columns_of(Fate.ADDRESS))
    identity = _num_nonnulls(columns_of(Fate.IDENTITY))
    return {
        "ck_moderation_events_text_gone": plain(f"CHECK (NOT text_redacted OR {gone_state} AND {text})"),
        "ck_moderation_events_address_gone": plain(f"CHECK (NOT ipaddr_redacted OR {address})"),
        "ck_moderation_events_identity_gone": plain(
            f"CHECK (NOT anonymized OR text_redacted AND ipaddr_redacted AND {identity})"
        ),
    }


def plain(definition: str) -> str:
    """A constraint's text without what two spellings of the same may differ in."""
    for noise in ("::text", "(", ")", " ", "\n"):
        definition = definition.replace(noise, "")
    return definition


def unmapped(columns: Collection[str]) -> tuple[str, ...]:
    """The columns of the table that have no fate."""
    return tuple(sorted(set(columns) - set(EVENT_COLUMN_RETENTION)))


def disagreements(columns: Collection[str], checks: Mapping[str, str]) -> tuple[str, ...]:
    """What keeps moderation from starting: how the table differs from this list, one sentence each."""
    return (
        *(f"column {column} has no fate" for column in unmapped(columns)),
        *(f"column {column} is not in the table" for column in EVENT_COLUMN_RETENTION if column not in columns),
        *(
            f"constraint {name} is not the one that the fates make"
            for name, wanted in constraints().items()
            if plain(checks.get(name, "")) != wanted
        ),
    )


def _num_nonnulls(columns: Iterable[str]) -> str:
    return f"num_nonnulls({', '.join(columns)}) = 0"
