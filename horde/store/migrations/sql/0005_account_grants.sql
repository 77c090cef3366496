-- Who may use what accounts gained.

GRANT SELECT, INSERT, UPDATE, DELETE ON admission.usage_days TO horde_admission;
GRANT SELECT ON admission.kudos_transfers TO horde_admission;
REVOKE EXECUTE ON FUNCTION dispatch.charged_facts_v1, dispatch.account_workers_v1, dispatch.active_requests_v1,
    dispatch.sharedkey_load_v1, dispatch.end_requests_v1, dispatch.remove_workers_v1,
    dispatch.reset_suspicions_v1, admission.transfer_v1, admission.award_v1, admission.count_usage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dispatch.account_workers_v1, dispatch.active_requests_v1, dispatch.sharedkey_load_v1,
    dispatch.end_requests_v1, dispatch.remove_workers_v1, dispatch.reset_suspicions_v1, admission.transfer_v1, admission.award_v1, admission.adjust_v1,
    admission.create_account_v1 TO horde_admission;
