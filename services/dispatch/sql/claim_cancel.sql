-- claim_cancel: nothing of the request waits any more. No row when another cancel won or the request is done; run under lock_request.
-- $1 request uuid
WITH claimed AS (
    UPDATE dispatch.waiting_prompts r SET cancelled = true, n = 0
    WHERE r.id = $1 AND NOT r.cancelled AND NOT r.faulted AND (
        r.n > 0 OR EXISTS (SELECT FROM dispatch.processing_gens g WHERE g.wp_id = r.id AND g.generation IS NULL AND NOT g.faulted AND NOT g.fake))
    RETURNING r.id
),
closed AS (
    UPDATE dispatch.wp_models m SET waiting = false FROM claimed WHERE m.wp_id = claimed.id AND m.waiting
)
SELECT id FROM claimed
