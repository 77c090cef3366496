-- What each owner's role may do at home, and who may call which door. Loaded last.

GRANT USAGE ON SCHEMA admission TO horde_admission, horde_dispatch, horde_moderation;
GRANT USAGE ON SCHEMA dispatch TO horde_dispatch, horde_admission;
GRANT USAGE ON SCHEMA moderation TO horde_moderation, horde_admission, horde_dispatch;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA admission TO horde_admission;
REVOKE INSERT, UPDATE, DELETE ON admission.kudos_ledger, admission.settlements FROM horde_admission;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA dispatch TO horde_dispatch;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA moderation TO horde_moderation;

-- Doors are called by name; nobody else may call them.
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA admission FROM PUBLIC;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA dispatch FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admission.settle_v1, admission.release_hold_v1, admission.forget_requests_v1 TO horde_dispatch;
GRANT EXECUTE ON FUNCTION admission.activate_v1, admission.promote_v1, admission.ensure_anonymous_v1, admission.release_hold_v1,
    admission.forget_requests_v1 TO horde_admission;
GRANT EXECUTE ON FUNCTION dispatch.enqueue_v1, dispatch.accept_inactive_v1, dispatch.discard_v1, dispatch.count_waiting_v1,
    dispatch.chat_offers_v1, dispatch.measure_availability_v1, dispatch.competing_load_v1,
    dispatch.missing_workers_v1, dispatch.tell_waiting_v1, dispatch.widest_context_v1, dispatch.text_submission_v1 TO horde_admission;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA dispatch TO horde_dispatch;
