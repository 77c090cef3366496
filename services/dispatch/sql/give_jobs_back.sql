-- give_jobs_back: undo a claim whose job could not be handed out: the generations vanish and the jobs wait again.
-- A request that was cancelled or faulted meanwhile does not wait again. Safe to repeat. Run under lock_request, as a pop, a cancel and a
-- fault take their locks: the request first.
-- $1 request uuid
-- $2 generations uuid[]
WITH undone AS (
    DELETE FROM dispatch.processing_gens g
    WHERE g.id = ANY ($2) AND g.wp_id = $1 AND g.generation IS NULL AND NOT g.faulted
    RETURNING g.worker_id, g.fake
), request AS (
    UPDATE dispatch.waiting_prompts r SET n = r.n + back.jobs
    FROM (SELECT count(*) AS jobs FROM undone WHERE NOT fake) AS back
    WHERE r.id = $1 AND NOT r.cancelled AND NOT r.faulted AND back.jobs > 0
    RETURNING r.id
), waiting AS (
    UPDATE dispatch.wp_models m SET waiting = true FROM request WHERE m.wp_id = request.id AND NOT m.waiting
)
DELETE FROM dispatch.wp_tricked_workers t USING undone u WHERE u.fake AND t.wp_id = $1 AND t.worker_id = u.worker_id
