"""Every instrument that the reference names is exported under the name and the attributes it gives.

Dots become underscores, `horde.` goes from labels, a unit ends the name: `horde.pop.duration` of seconds by
`horde.gentype` is `horde_pop_duration_seconds{gentype}`.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tools.instruments import instruments

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"

BASE_DOMAIN: Mapping[str, tuple[str, set[str]]] = {
    "horde_generate_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_generate_validate_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_generate_validate_find_user_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_generate_validate_prompt_filter_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_generate_activate_wp_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_wp_activate_duration_seconds": (HISTOGRAM, {"wp_type"}),
    "horde_wp_activation_age_seconds": (HISTOGRAM, {"wp_type"}),
    "horde_pop_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_pop_pre_eval_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_pop_validate_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_pop_check_in_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_pop_start_generation_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_pop_eval_loop_duration_seconds": (HISTOGRAM, {"gentype", "outcome"}),
    "horde_pop_candidates_evaluated": (HISTOGRAM, {"gentype"}),
    "horde_pop_returned_jobs": (HISTOGRAM, {"gentype", "outcome"}),
    "horde_pop_skipped_total": (COUNTER, {"gentype", "skip_reason"}),
    "horde_submit_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_submit_kudos": (HISTOGRAM, {"gentype"}),
    "horde_submit_outcomes_total": (COUNTER, {"gentype", "outcome"}),
    "horde_submit_get_progen_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_submit_state_handling_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_submit_commit_duration_seconds": (HISTOGRAM, {"gentype"}),
    "horde_countermeasures_ip_check_duration_seconds": (HISTOGRAM, {"cached"}),
    "horde_db_pool_timeout_total": (COUNTER, set()),
    "horde_kudos_active_reservations": (GAUGE, set()),
    "horde_kudos_oldest_reservation_seconds": (GAUGE, set()),
    "horde_kudos_floor_adjustments_total": (COUNTER, {"account_class"}),
    "horde_kudos_floor_adjustments_kudos_total": (COUNTER, {"account_class"}),
    "horde_kudos_reservations_rejected_total": (COUNTER, set()),
    "horde_kudos_transfers_idempotent_replays_total": (COUNTER, set()),
    "horde_text_context_fit_total": (COUNTER, {"context_fit_mode", "context_fit_outcome"}),
    "horde_text_empty_generations_total": (COUNTER, {"model", "bridge_agent", "state"}),
    "horde_api_rejections_total": (
        COUNTER,
        {"rc", "http_response_status_code", "http_route", "http_request_method"},
    ),
}
"""base-domain 12 and 5.5. What of it we have no use for is told in docs/contract/horde-divergences.md."""

CHAT: Mapping[str, tuple[str, set[str]]] = {
    "horde_chat_max_length_lowered_total": (COUNTER, {"requested_bucket", "declared_bucket", "dry_run"}),
    "horde_oai_completions_total": (COUNTER, {"finish_reason", "lowered"}),
    "horde_oai_errors_total": (COUNTER, {"code", "status", "stage"}),
    "horde_oai_first_delta_seconds": (HISTOGRAM, set()),
    "horde_oai_restarts_total": (COUNTER, {"outcome"}),
    "horde_oai_cancelled_total": (COUNTER, {"cause"}),
    "horde_oai_attached_retries_total": (COUNTER, set()),
    "horde_text_lease_renewals_total": (COUNTER, {"outcome", "worker_trusted"}),
    "horde_text_stale_aborts_total": (COUNTER, {"worker_trusted", "chat"}),
    "horde_pop_lease_capacity_limited_total": (COUNTER, {"gentype"}),
    "horde_text_gate_shadow_assignments_total": (COUNTER, {"worker_trusted", "size_bucket"}),
    "horde_text_gate_shadow_outcomes_total": (COUNTER, {"worker_trusted", "size_bucket", "outcome"}),
    "horde_text_gate_shadow_service_seconds": (HISTOGRAM, {"worker_trusted", "size_bucket"}),
    "horde_chat_worker_faults_total": (COUNTER, {"reason", "worker_trusted"}),
    "horde_text_free_allowance_decisions_total": (
        COUNTER,
        {"requester", "outcome", "requested_bucket", "allowance_bucket", "chat"},
    ),
    "horde_text_free_allowance_estimated_wait_seconds": (HISTOGRAM, {"chat", "requester"}),
    "horde_text_queue_wait_seconds": (HISTOGRAM, {"requester", "chat", "requested_bucket"}),
}
"""The chat reference, and clients-and-front 3.11."""

MODERATION: Mapping[str, tuple[str, set[str]]] = {
    "horde_moderation_evidence_captured_total": (COUNTER, {"reason", "text_state"}),
    "horde_moderation_evidence_write_failures_total": (COUNTER, {"error_type"}),
    "horde_moderation_evidence_pending_rows": (GAUGE, set()),
    "horde_moderation_evidence_oldest_pending_seconds": (GAUGE, set()),
    "horde_moderation_evidence_uploads_total": (COUNTER, set()),
    "horde_moderation_evidence_upload_failures_total": (COUNTER, set()),
    "horde_moderation_rejections_per_minute": (GAUGE, {"reason"}),
    "horde_moderation_rejecting_subjects": (GAUGE, set()),
    "horde_moderation_countermeasures_total": (COUNTER, {"action"}),
    "horde_moderation_retention_rows_total": (COUNTER, {"step"}),
    "horde_moderation_retention_cycles_total": (COUNTER, set()),
    "horde_moderation_retention_saturation_total": (COUNTER, set()),
    "horde_moderation_retention_waiting_stored": (GAUGE, set()),
    "horde_moderation_retention_held": (GAUGE, {"hold_source"}),
    "horde_moderation_retention_overdue_seconds": (GAUGE, {"step"}),
    "horde_moderation_retention_unmapped_columns": (GAUGE, set()),
    "horde_moderation_table_rows": (GAUGE, {"table"}),
    "horde_moderation_observation_timestamp": (GAUGE, set()),
}
"""The moderation reference, and moderation A7."""

OF_PEOPLE = {
    "user",
    "user_id",
    "account",
    "username",
    "key",
    "api_key",
    "worker",
    "worker_id",
    "address",
    "ip",
    "ipaddr",
}
OF_REQUESTS = {"id", "request", "request_id", "generation", "generation_id", "path", "url", "prompt", "trace_id"}


@pytest.mark.parametrize("named", [BASE_DOMAIN, CHAT, MODERATION], ids=["base-domain", "chat", "moderation"])
def test_each_instrument_has_the_kind_and_the_attributes_that_the_reference_gives(
    named: Mapping[str, tuple[str, set[str]]],
) -> None:
    exported = {one.name: (one.kind, set(one.labels)) for one in instruments()}
    assert {name: exported.get(name) for name in named} == dict(named)


def test_no_label_names_a_person_or_a_request() -> None:
    for one in instruments():
        assert not {*one.labels} & (OF_PEOPLE | OF_REQUESTS), one.name


def test_each_name_is_declared_once() -> None:
    names = [one.name for one in instruments()]
    assert len(names) == len(set(names))


def test_what_the_reference_names_and_we_do_not_export_is_told() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "contract" / "horde-divergences.md").read_text()
    for name in (
        "horde.generate.initiate_wp.duration",
        "horde.generate.validate.wp_count.duration",
        "horde.submit.find_user.duration",
        "horde.job.duration",
        "horde.job.failures",
        "horde.kudos.applier",
        "horde.style",
        "horde.request.assignment_pressure.samples",
        "horde.generate.status.duration",
        "horde.moderation.retention.skipped",
    ):
        assert f"`{name}" in page, name
