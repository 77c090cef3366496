-- list_models: every model that an online worker serves or that a request waits for, with its queue.
-- Chat requests share the queue of their model. A worker in maintenance is not online here (decision R16).
-- $1 online timestamptz the last check-in of a worker that still counts
-- $2 since timestamptz from when on performances count
WITH served AS (
    SELECT model, sum(CASE WHEN w.accepts_prompt_jobs THEN w.threads ELSE 0 END) AS threads
    FROM dispatch.workers w CROSS JOIN unnest(w.models) AS model
    WHERE w.last_check_in > $1 AND NOT w.maintenance
    GROUP BY model
), queued AS (
    SELECT m.model, sum(r.things) AS tokens, sum(r.n) AS jobs
    FROM dispatch.wp_models m JOIN dispatch.waiting_prompts r ON r.id = m.wp_id
    WHERE m.waiting AND m.model <> '' AND r.active AND NOT r.faulted AND r.n > 0
    GROUP BY m.model
), running AS (
    SELECT g.model, count(*) AS jobs FROM dispatch.processing_gens g
    WHERE g.generation IS NULL AND NOT g.faulted AND NOT g.fake
    GROUP BY g.model
), measured AS (
    SELECT p.model, avg(p.performance) AS performance FROM dispatch.model_performances p WHERE p.created > $2 GROUP BY p.model
)
SELECT model, coalesce(s.threads, 0)::integer AS threads, coalesce(q.tokens, 0)::bigint AS queued,
       (coalesce(q.jobs, 0) + coalesce(r.jobs, 0))::bigint AS jobs, coalesce(m.performance, 0)::float8 AS performance
FROM served s
FULL JOIN queued q USING (model)
LEFT JOIN running r USING (model)
LEFT JOIN measured m USING (model)
ORDER BY model
