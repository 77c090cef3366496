-- record_refusal: keep why the reply of a pending generation was refused, on the request and on the generation. The last one stays.
-- $1 generation uuid
-- $2 reason text
-- $3 rc text
WITH refused AS (
    UPDATE dispatch.processing_gens SET chat_refusal_rc = $3
    WHERE id = $1 AND generation IS NULL AND NOT faulted AND NOT fake RETURNING wp_id
)
UPDATE dispatch.waiting_prompts r SET chat_fault_reason = $2, chat_fault_rc = $3 FROM refused WHERE r.id = refused.wp_id
