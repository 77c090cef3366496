-- Who may call the functions that this revision adds. Loaded last.

REVOKE EXECUTE ON FUNCTION admission.activate_v2, admission.read_submission_v1, dispatch.count_waiting_v2, dispatch.accept_v2, dispatch.enqueue_v2,
    dispatch.tell_waiting_v2, dispatch.measure_availability_v2 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admission.activate_v2, admission.read_submission_v1, dispatch.count_waiting_v2, dispatch.tell_waiting_v2,
    dispatch.measure_availability_v2 TO horde_admission;
GRANT EXECUTE ON FUNCTION dispatch.count_waiting_v2, dispatch.accept_v2, dispatch.enqueue_v2, dispatch.tell_waiting_v2,
    dispatch.measure_availability_v2 TO horde_dispatch;
