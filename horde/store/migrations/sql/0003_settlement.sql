-- Who may call the functions that end and pay generations; and how dispatch's statements are planned.

REVOKE EXECUTE ON FUNCTION admission.post_v2, admission.charge_v1, admission.settle_v2, dispatch.pay_generation_v2, dispatch.conclude_v2,
    dispatch.store_result_v2, dispatch.settle_cancelled_v2 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admission.settle_v2, dispatch.pay_generation_v2, dispatch.conclude_v2, dispatch.store_result_v2,
    dispatch.settle_cancelled_v2 TO horde_dispatch;

-- A plan is made once for each connection, perhaps while the tables are empty; it has to be right for a long queue too.
ALTER ROLE horde_dispatch SET enable_seqscan = off;
