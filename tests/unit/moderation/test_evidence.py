"""What is written down of a refusal, and how long an address stays out."""

import hashlib
import json
from datetime import timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from services.moderation.rules.evidence import (
    MAX_STAGE_CHARACTERS,
    Evidence,
    Path,
    WorkerReport,
    capture,
    capture_report,
    digest,
    event_of_object,
    evidence_object_key,
    stages_of,
)
from services.moderation.rules.timeouts import model_rejection_times_out, timeout_after


def captured(prompt: str, origin: str = "1.2.3.4", models: tuple[str, ...] = ("m",)) -> Evidence:
    return capture(account_id=1, origin=origin, models=models, prompt=prompt, reason=Path.FILTER, secret="a secret")


def reported(submitted: str | None, effective: str | None, proxied_account: str | None = None) -> Evidence:
    report = WorkerReport(
        request_id=None,
        job_id=UUID(int=1),
        worker_id=UUID(int=2),
        worker_name="w",
        account_id=1,
        proxied_account=proxied_account,
        origin="1.2.3.4",
        models=("m",),
        loras=(),
        submitted_prompt=submitted,
        effective_prompt=effective,
    )
    return capture_report(report, secret="a secret")


def test_stages_are_clipped_and_say_so() -> None:
    stages = captured("x" * (MAX_STAGE_CHARACTERS + 1)).stages
    assert (len(stages.submitted_prompt or ""), stages.characters, stages.truncated) == (16_000, 32_000, True)
    assert not captured("x" * MAX_STAGE_CHARACTERS).stages.truncated


def test_nothing_that_the_database_refuses_is_left_in_a_text() -> None:
    evidence = captured("a\x00b\ud800c\udfffd", models=("m\x00",))
    assert evidence.stages.moderation_prompt == "a\ufffdb\ufffdc\ufffdd"
    assert evidence.models == ("m\ufffd",)


def test_the_digest_is_that_of_the_canonical_json() -> None:
    stages = captured("schön \U0001f600").stages
    document = '{"effective_prompt":null,"moderation_prompt":"schön \U0001f600","submitted_prompt":"schön \U0001f600"}'
    assert json.loads(document)["submitted_prompt"] == stages.submitted_prompt
    assert stages.sha256 == hashlib.sha256(document.encode()).hexdigest()


def test_models_are_bounded() -> None:
    models = captured("x", models=("y" * 300,) * 150).models
    assert (len(models), len(models[0])) == (100, 255)


def test_an_origin_without_a_subject_is_kept_as_text_alone() -> None:
    evidence = captured("x", origin="unknown")
    assert (evidence.address, evidence.subject_key, evidence.origin) == (None, None, "unknown")
    keyed = captured("x", origin="2001:db8::1")
    assert (keyed.address, keyed.origin) == ("2001:db8::/64", None)
    assert keyed.subject_key is not None


def test_timeouts_grow_by_six_minutes() -> None:
    assert [timeout_after(n) for n in range(5)] == [timedelta(minutes=m) for m in (3, 9, 15, 21, 27)]


def test_model_rejections_count_above_the_threshold_or_in_a_raid() -> None:
    assert not model_rejection_times_out(5, threshold=5, raid=False)
    assert model_rejection_times_out(6, threshold=5, raid=False)
    assert model_rejection_times_out(1, threshold=5, raid=True)


def test_a_report_has_what_was_sent_and_what_a_worker_got_and_no_more() -> None:
    stages = reported("said", "got").stages
    assert (stages.submitted_prompt, stages.moderation_prompt, stages.effective_prompt) == ("said", None, "got")
    assert (stages.characters, stages.state) == (7, "pending")
    document = '{"effective_prompt":"got","moderation_prompt":null,"submitted_prompt":"said"}'
    assert stages.sha256 == hashlib.sha256(document.encode()).hexdigest()


def test_a_report_without_any_text_has_no_digest_and_nothing_to_upload() -> None:
    stages = reported(None, None).stages
    assert (stages.sha256, stages.characters, stages.state, stages.truncated) == (None, None, "none", False)


def test_clipping_counts_characters_and_not_bytes() -> None:
    stages = captured("\U0001f600" * (MAX_STAGE_CHARACTERS + 1)).stages
    assert stages.submitted_prompt == "\U0001f600" * MAX_STAGE_CHARACTERS


def test_whom_a_service_names_is_kept_without_what_the_database_refuses() -> None:
    assert reported("x", None, proxied_account="a\x00" * 600).proxied_account == "a\ufffd" * 500
    assert reported("x", None, proxied_account="").proxied_account is None


def test_an_object_key_and_its_event_are_functions_of_each_other() -> None:
    assert evidence_object_key(812) == "evidence/812.json"
    assert event_of_object("evidence/812.json") == 812
    for other in ("evidence/0812.json", "evidence/x.json", "evidence/1.json/2", "other/1.json", "evidence/\u0661.json"):
        assert event_of_object(other) is None


ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
"""Whatever a JSON string can hold, halves of surrogate pairs too."""


@given(prompt=ANY_TEXT, origin=ANY_TEXT, models=st.lists(ANY_TEXT, max_size=3), proxied_account=ANY_TEXT | st.none())
def test_whatever_was_sent_its_evidence_can_be_stored(
    prompt: str, origin: str, models: list[str], proxied_account: str | None
) -> None:
    evidence = capture(
        account_id=1,
        origin=origin,
        models=models,
        prompt=prompt,
        reason=Path.MODEL,
        secret="a secret",
        proxied_account=proxied_account,
    )
    texts = (evidence.stages.submitted_prompt, evidence.origin, evidence.proxied_account, *evidence.models)
    assert not any("\0" in text.encode().decode() for text in texts if text is not None)
    assert len(evidence.origin or "") <= 255


@given(st.text(max_size=40), st.text(max_size=40) | st.none(), st.sampled_from((1, 700)))
def test_digest_and_count_follow_from_what_is_stored(submitted: str, effective: str | None, times: int) -> None:
    stages = reported(submitted * times, None if effective is None else effective * times).stages
    stored = (stages.submitted_prompt, stages.moderation_prompt, stages.effective_prompt)
    assert (stages.sha256, stages.characters) == digest(*stored)
    assert stages == stages_of(submitted=stored[0], moderation=stored[1], effective=stored[2]) or stages.truncated
    assert stages.characters == sum(len(text) for text in stored if text is not None) <= 3 * MAX_STAGE_CHARACTERS
