"""The fate map is the only list: what the steps set and what the constraints say is made from it."""

from horde.store import queries
from services.moderation.retention_repo import STEPS
from services.moderation.rules import fates
from services.moderation.rules.fates import EVENT_COLUMN_RETENTION, Fate, Step

CHECKS = {
    "ck_moderation_events_text_gone": "CHECK (((NOT text_redacted) OR (((text_state)::text = 'none'::text) AND"
    " (num_nonnulls(submitted_prompt, moderation_prompt, effective_prompt, text_sha256, text_chars) = 0))))",
    "ck_moderation_events_address_gone": "CHECK (((NOT ipaddr_redacted) OR (num_nonnulls(ipaddr, origin_text) = 0)))",
    "ck_moderation_events_identity_gone": "CHECK (((NOT anonymized) OR (text_redacted AND ipaddr_redacted AND"
    " (num_nonnulls(user_id, proxied_account, request_id, job_id, ip_subject_key) = 0))))",
}
"""As a database prints them."""


def test_the_ceiling_clears_everything_that_is_neither_kept_nor_a_flag() -> None:
    assert set(fates.cleared_by(Step.CEILING)) == {
        column for column, fate in EVENT_COLUMN_RETENTION.items() if fate not in {Fate.KEEP, Fate.FLAG}
    }


def test_what_is_kept_names_nobody_but_the_reporting_worker() -> None:
    kept = {"id", "created", "reason", "outcome", "models", "worker_id", "text_truncated"}
    assert set(fates.columns_of(Fate.KEEP)) == kept


def test_each_step_sets_its_columns_and_flags() -> None:
    assert fates.assignments(Step.ADDRESS) == "ipaddr = NULL, origin_text = NULL, ipaddr_redacted = true"
    assert fates.assignments(Step.TEXT).startswith("submitted_prompt = NULL, moderation_prompt = NULL")
    assert "text_state = 'none'" in fates.assignments(Step.TEXT)
    for flag in fates.columns_of(Fate.FLAG):
        assert f"{flag} = true" in fates.assignments(Step.CEILING)


def test_the_statements_of_the_steps_carry_the_assignments_of_the_map() -> None:
    for step in (Step.CEILING, Step.TEXT, Step.ADDRESS):
        assert f"SET {fates.assignments(step)}\n" in STEPS[step].change.sql
    # the file alone sets no more than the flag, so nothing is listed twice
    assert "submitted_prompt" not in queries("services.moderation")["redact_texts"].sql


def test_the_database_of_this_code_has_nothing_to_object_to() -> None:
    assert fates.disagreements(list(EVENT_COLUMN_RETENTION), CHECKS) == ()


def test_a_column_without_a_fate_a_missing_one_and_another_constraint_are_each_named() -> None:
    columns = [*EVENT_COLUMN_RETENTION, "shoe_size"]
    columns.remove("ipaddr")
    changed = CHECKS["ck_moderation_events_address_gone"].replace(", origin_text", "")
    wrong = fates.disagreements(columns, {**CHECKS, "ck_moderation_events_address_gone": changed})
    assert wrong == (
        "column shoe_size has no fate",
        "column ipaddr is not in the table",
        "constraint ck_moderation_events_address_gone is not the one that the fates make",
    )
    assert "ck_moderation_events_text_gone" in fates.disagreements(list(EVENT_COLUMN_RETENTION), {})[0]
