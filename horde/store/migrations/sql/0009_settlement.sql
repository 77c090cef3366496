-- Who may call the functions of this revision, and how dispatch's statements are planned.

REVOKE EXECUTE ON FUNCTION admission.post_v2, admission.charge_v1, admission.settle_v2, dispatch.pay_generation_v2, dispatch.conclude_v2,
    dispatch.store_result_v2, dispatch.settle_cancelled_v2, dispatch.find_candidates_v2, dispatch.competing_load_v3,
    dispatch.tell_waiting_v3 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admission.settle_v2, dispatch.pay_generation_v2, dispatch.conclude_v2, dispatch.store_result_v2,
    dispatch.settle_cancelled_v2, dispatch.find_candidates_v2, dispatch.competing_load_v3, dispatch.tell_waiting_v3 TO horde_dispatch;
GRANT EXECUTE ON FUNCTION dispatch.competing_load_v3, dispatch.tell_waiting_v3 TO horde_admission;

-- A plan is made once for each connection, perhaps while the tables are empty; it has to be right for a long queue too.
ALTER ROLE horde_dispatch SET enable_seqscan = off;
-- Called at the commit, outside of the function that forces the plans of a submit.
ALTER FUNCTION dispatch.charged_facts_v1(uuid, uuid) SET plan_cache_mode = force_generic_plan SET enable_seqscan = off;
