-- read_status: a request, the counts of its generations and the finished ones themselves, in one snapshot.
-- remaining: seconds that the slowest running generation should still take. $3: tokens per second of a worker without a measured speed.
-- ahead: requests that are served before this one, counted up to EXACT_BOUND of rules/status.py; null when it does not wait. The bound
-- stands in the statement because Postgres plans a statement whose LIMIT is a parameter anew each time.
-- $1 request uuid
-- $2 chat boolean
-- $3 unmeasured_speed double
-- $4 now timestamptz
SELECT r.n, r.jobs, r.faulted, r.cancelled, r.active, r.created, r.consumed_kudos, r.context_adjustments, r.chat_fault_reason, r.chat_fault_rc,
       r.expiry < $4 AS expired, coalesce((r.chat_extras ->> 'stream_progress')::boolean, false) AS streamed,
       counts.finished, counts.processing, counts.restarted, counts.remaining, counts.generations, queue.ahead, r.rank
FROM dispatch.waiting_prompts r
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE g.generation IS NOT NULL AND NOT g.faulted) AS finished,
           count(*) FILTER (WHERE g.generation IS NULL AND NOT g.faulted) AS processing,
           count(*) FILTER (WHERE g.faulted) AS restarted,
           coalesce(max(r.max_length / coalesce(nullif(w.speed, 0), $3) - extract(epoch FROM $4 - g.start_time))
                    FILTER (WHERE g.generation IS NULL AND NOT g.faulted), 0)::double precision AS remaining,
           coalesce(json_agg(json_build_object(
               'id', g.id, 'worker_id', w.id, 'worker_name', w.name, 'model', g.model, 'text', g.generation, 'seed', coalesce(g.seed, 0),
               'censored', g.censored, 'gen_metadata', g.gen_metadata, 'message', g.message, 'finish_reason', g.finish_reason,
               'native_finish_reason', g.native_finish_reason, 'prompt_tokens', g.prompt_tokens, 'completion_tokens', g.completion_tokens,
               'reasoning_tokens', g.reasoning_tokens, 'charge_basis', g.charge_basis, 'kudos', coalesce(g.kudos, 0),
               'queue_wait_seconds', greatest(extract(epoch FROM g.start_time - r.created), 0)
           ) ORDER BY g.ended_at, g.id) FILTER (WHERE g.generation IS NOT NULL AND NOT g.faulted), '[]') AS generations
    FROM dispatch.processing_gens g JOIN dispatch.workers w ON w.id = g.worker_id
    WHERE g.wp_id = r.id AND NOT g.fake
) counts
LEFT JOIN LATERAL (
    SELECT count(*) AS ahead FROM (
        SELECT FROM dispatch.waiting_prompts other
        WHERE other.active AND NOT other.faulted AND other.n > 0 AND other.rank >= r.rank
          AND (other.rank > r.rank OR (other.created, other.id) < (r.created, r.id))
        ORDER BY other.rank DESC, other.created, other.id LIMIT 200
    ) AS earlier
) queue ON r.active AND NOT r.faulted AND r.n > 0
WHERE r.id = $1 AND r.is_chat = $2
