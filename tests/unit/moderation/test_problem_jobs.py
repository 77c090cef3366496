"""When and in which words moderators are told of problem jobs."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.moderation.rules.evidence import Evidence, WorkerReport, capture_report
from services.moderation.rules.problem_jobs import MAX_NOTICE, Counts, Level, exceeded, mute_of, notice

SECRET = "a secret"
JOB, WORKER = UUID(int=1), UUID(int=2)
HOSTILE = "@everyone [click](https://evil.example) **bold** `code`\nnext"


def report(**changed: Any) -> WorkerReport:
    known: dict[str, Any] = {
        "request_id": UUID(int=3),
        "job_id": JOB,
        "worker_id": WORKER,
        "worker_name": "a worker",
        "account_id": 7,
        "proxied_account": None,
        "origin": "1.2.3.4",
        "models": ("one", "two"),
        "loras": (),
        "submitted_prompt": "SECRET PROMPT",
        "effective_prompt": "SECRET PROMPT",
    }
    return WorkerReport(**{**known, **changed})


def told(level: Level = Level.ACCOUNT_HOUR, *, secret: str | None = SECRET, **changed: Any) -> str:
    known: dict[str, Any] = {"alias": "somebody#7", "event_id": 812, "frontpage_url": "https://front.example/"}
    said = {name: changed.pop(name, value) for name, value in known.items()}
    reported = report(**changed)
    return notice(level, 51, reported, evidence(reported, secret), **said)


def evidence(reported: WorkerReport, secret: str | None = SECRET) -> Evidence:
    return capture_report(reported, secret=secret)


@pytest.mark.parametrize(
    ("counts", "levels"),
    [
        (Counts(50, 200, 50, 200), []),
        (Counts(51, 51, 0, 0), [Level.ACCOUNT_HOUR]),
        (Counts(51, 201, 51, 201), list(Level)),
        (Counts(0, 201, 0, 201), [Level.ACCOUNT_DAY, Level.ADDRESS_DAY]),
    ],
)
def test_a_level_is_exceeded_strictly_above_its_threshold(counts: Counts, levels: list[Level]) -> None:
    assert list(exceeded(counts, anonymous=False, has_subject=True)) == levels


def test_of_the_anonymous_account_only_addresses_are_told_and_without_one_only_the_account() -> None:
    many = Counts(999, 999, 999, 999)
    assert list(exceeded(many, anonymous=True, has_subject=True)) == [Level.ADDRESS_HOUR, Level.ADDRESS_DAY]
    assert list(exceeded(many, anonymous=False, has_subject=False)) == [Level.ACCOUNT_HOUR, Level.ACCOUNT_DAY]
    assert list(exceeded(many, anonymous=True, has_subject=False)) == []


def test_the_lines_of_an_alert_about_an_account() -> None:
    assert told().splitlines() == [
        "somebody\\#7",
        "51 reports in the past hour (threshold 50)",
        "muted for 1 hour",
        f"job {JOB}",
        f"worker a worker ({WORKER})",
        "models one, two",
        "LoRAs none",
        "event 812",
        "https://front.example/admin/review?tab=prompts&event_id=812",
    ]


def test_an_alert_about_an_address_names_its_pseudonym_and_never_the_address() -> None:
    text = told(Level.ADDRESS_DAY)
    key = evidence(report()).subject_key
    assert key is not None
    assert text.splitlines()[:3] == [
        f"IP subject {key[:12]}, latest account somebody\\#7",
        "51 reports in the past day (threshold 200)",
        "muted for 1 day",
    ]
    assert "1.2.3.4" not in text
    assert told(Level.ADDRESS_DAY, secret=None).startswith("An unnamed IP subject, ")


def test_an_alert_says_that_the_evidence_is_lost_and_then_has_no_link() -> None:
    last = told(event_id=None).splitlines()[-1]
    assert last == "the evidence could not be written"


@pytest.mark.parametrize("url", [None, "front.example", "ftp://front.example", "https://", "http://[", "/admin"])
def test_without_a_usable_address_of_the_frontpage_the_alert_says_where_to_look(url: str | None) -> None:
    assert told(frontpage_url=url).splitlines()[-1] == "open it in the frontpage's Prompts tab"


def test_names_that_strangers_chose_have_no_power_over_the_message() -> None:
    text = told(alias=HOSTILE, worker_name=HOSTILE, models=(HOSTILE,), loras=(HOSTILE,))
    assert "@everyone" not in text.replace("\\@everyone", "")
    assert "](" not in text
    assert len(text.splitlines()) == 9


ANY_NAME = st.text(st.characters(codec=None, exclude_categories=()))


@given(st.sampled_from(Level), ANY_NAME, ANY_NAME, st.lists(ANY_NAME, max_size=15).map(tuple))
def test_whatever_names_are_made_of_an_alert_has_its_nine_lines_and_fits(
    level: Level, alias: str, worker_name: str, names: tuple[str, ...]
) -> None:
    text = told(level, alias=alias * 200, worker_name=worker_name * 200, models=names, loras=names)
    assert len(text) <= MAX_NOTICE
    assert len(text.splitlines()) == 9
    assert "@" not in text.replace("\\@", "")
    text.encode()


def test_an_alert_fits_into_a_message_whatever_the_names_are() -> None:
    wide = tuple("*" * 300 for _ in range(40))
    text = told(alias="*" * 300, worker_name="_" * 100, models=wide, loras=wide)
    assert len(text) <= MAX_NOTICE
    assert "+36" in text
    assert text.splitlines()[-2:] == ["event 812", "https://front.example/admin/review?tab=prompts&event_id=812"]
    longest = told(models=wide, loras=wide, frontpage_url="https://front.example/" + "x" * 1500)
    assert len(longest) <= MAX_NOTICE
    assert "event 812" in longest


def test_an_alert_never_carries_the_prompt() -> None:
    assert all("SECRET" not in told(level) for level in Level)


def test_mutes_hold_no_address_and_tell_end_users_of_one_account_apart() -> None:
    assert mute_of(Level.ACCOUNT_HOUR, evidence(report())) == "user_7_hourly"
    proxied = mute_of(Level.ACCOUNT_DAY, evidence(report(proxied_account="somebody@example.org")))
    assert proxied.startswith("user_7:")
    assert "somebody" not in proxied
    assert proxied.endswith("_daily")
    for secret in ("a secret", None):
        mute = mute_of(Level.ADDRESS_HOUR, evidence(report(), secret))
        assert mute.startswith("ip_")
        assert "1.2.3.4" not in mute
