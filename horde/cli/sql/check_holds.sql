-- check_holds: the holds that are still active although their request is gone or faulted; none in a sound ledger.
SELECT 'hold outlives its request' AS finding, h.business_id AS subject, 0::bigint AS expected, h.remaining_amount AS found
FROM admission.kudos_reservations h LEFT JOIN dispatch.waiting_prompts r ON r.id = h.request_id
WHERE h.released_at IS NULL AND (r.id IS NULL OR r.faulted) ORDER BY h.id LIMIT 1000;
