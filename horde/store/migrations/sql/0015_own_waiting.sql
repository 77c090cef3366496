-- Who calls the functions of this revision.
REVOKE EXECUTE ON FUNCTION admission.activate_v3, dispatch.count_waiting_v3, dispatch.find_candidates_v3,
    dispatch.active_requests_v2 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admission.activate_v3, dispatch.count_waiting_v3, dispatch.active_requests_v2 TO horde_admission;
GRANT EXECUTE ON FUNCTION dispatch.find_candidates_v3 TO horde_dispatch;
