"""The first schema: accounts, ledger, queue, workers, moderation, the doors between owners. Runs: before the code."""

from horde.store.migrations import running

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Views and SQL-language functions are checked when they are made, so each stands after what it reads.
STEPS = (
    "migrations/sql/0001_owners.sql",
    "migrations/sql/0001_admission.sql",
    "migrations/sql/0001_dispatch.sql",
    "migrations/sql/0001_moderation.sql",
    "migrations/sql/0001_views.sql",
    "functions/admission_post_v1.sql",
    "functions/admission_spend_v1.sql",
    "functions/admission_settle_v1.sql",
    "functions/admission_release_hold_v1.sql",
    "functions/admission_forget_requests_v1.sql",
    "functions/admission_ensure_anonymous_v1.sql",
    "functions/admission_activate_v1.sql",
    "functions/admission_adjust_v1.sql",
    "functions/admission_create_account_v1.sql",
    "functions/admission_promote_v1.sql",
    "functions/dispatch_count_waiting_v1.sql",
    "functions/dispatch_chat_offers_v1.sql",
    "functions/dispatch_lane_v1.sql",
    "functions/dispatch_accept_inactive_v1.sql",
    "functions/dispatch_enqueue_v1.sql",
    "functions/dispatch_waiting_notice_v1.sql",
    "functions/dispatch_tell_waiting_v1.sql",
    "functions/dispatch_discard_v1.sql",
    "functions/dispatch_measure_availability_v1.sql",
    "functions/dispatch_competing_load_v1.sql",
    "functions/dispatch_missing_workers_v1.sql",
    "functions/dispatch_widest_context_v1.sql",
    "functions/dispatch_text_submission_v1.sql",
    "functions/dispatch_unpause_workers_v1.sql",
    "functions/dispatch_conclude_v1.sql",
    "functions/dispatch_pay_generation_v1.sql",
    "functions/dispatch_record_ending_v1.sql",
    "functions/dispatch_store_result_v1.sql",
    "functions/dispatch_count_faulted_v1.sql",
    "functions/dispatch_count_fault_v1.sql",
    "functions/dispatch_fault_generation_v1.sql",
    "functions/dispatch_settle_cancelled_v1.sql",
    "migrations/sql/0001_grants.sql",
)


def upgrade() -> None:
    """Every step, in one transaction."""
    running.run_files(*STEPS)
