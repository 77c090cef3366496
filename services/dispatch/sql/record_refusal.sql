-- record_refusal: keep why the reply of a pending generation was refused, on the request and on the generation. The last one stays.
-- The request is locked first, as a pop, a cancel and a fault do.
-- $1 generation uuid
-- $2 reason text
-- $3 rc text
WITH request AS (
    SELECT r.id FROM dispatch.waiting_prompts r
    WHERE r.id = (SELECT g.wp_id FROM dispatch.processing_gens g WHERE g.id = $1) FOR NO KEY UPDATE
), refused AS (
    UPDATE dispatch.processing_gens g SET chat_refusal_rc = $3 FROM request
    WHERE g.id = $1 AND g.wp_id = request.id AND g.generation IS NULL AND NOT g.faulted AND NOT g.fake RETURNING g.wp_id
)
UPDATE dispatch.waiting_prompts r SET chat_fault_reason = $2, chat_fault_rc = $3 FROM refused WHERE r.id = refused.wp_id
