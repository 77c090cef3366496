-- measure_horde: the horde in numbers: what waits, who works, what was made in the last minute.
-- $1 online timestamptz the last check-in of a worker that still counts
-- $2 minute_ago timestamptz
WITH queued AS (
    SELECT coalesce(sum(r.n), 0) AS jobs, coalesce(sum(r.things), 0) AS tokens
    FROM dispatch.waiting_prompts r WHERE r.active AND NOT r.faulted AND r.n > 0
), running AS (
    SELECT count(*) AS jobs FROM dispatch.processing_gens g JOIN dispatch.waiting_prompts r ON r.id = g.wp_id
    WHERE g.generation IS NULL AND NOT g.faulted AND NOT g.fake AND r.active AND NOT r.faulted AND r.n > 0
), online AS (
    SELECT count(*) AS workers, coalesce(sum(w.threads), 0) AS threads FROM dispatch.workers w WHERE w.last_check_in > $1
)
SELECT (queued.jobs + running.jobs)::bigint AS queued_requests, queued.tokens::bigint AS queued_tokens,
       online.workers::integer AS workers, online.threads::integer AS threads,
       (SELECT coalesce(sum(f.things), 0) FROM dispatch.horde_fulfillments f WHERE f.created > $2)::bigint AS past_minute_tokens
FROM queued, running, online
