-- Who may call the functions that this revision adds. Loaded last.

REVOKE EXECUTE ON FUNCTION admission.suspect_v1, dispatch.suspect_worker_v1, dispatch.count_fault_v2, dispatch.fault_generation_v2
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admission.suspect_v1, dispatch.suspect_worker_v1, dispatch.count_fault_v2, dispatch.fault_generation_v2
    TO horde_dispatch;
GRANT EXECUTE ON FUNCTION admission.suspect_v1 TO horde_admission;
