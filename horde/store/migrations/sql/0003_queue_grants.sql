-- Who may call the functions that the queue gained.

REVOKE EXECUTE ON FUNCTION dispatch.find_candidates_v1, dispatch.competing_load_v2, dispatch.rank_named_v1, dispatch.rank_new_named_v1
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dispatch.find_candidates_v1 TO horde_dispatch;
GRANT EXECUTE ON FUNCTION dispatch.competing_load_v2 TO horde_admission, horde_dispatch;
