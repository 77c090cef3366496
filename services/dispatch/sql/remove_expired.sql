-- remove_expired: delete a batch of expired requests with their generations; queue their objects; let go of their holds and keys.
-- Rows that a submit or a cancel holds are left for the next pass. A request whose job still runs under a lease goes all the same (decision R15).
-- $1 now timestamptz
-- $2 amount int
WITH due AS (
    SELECT id FROM dispatch.waiting_prompts WHERE expiry < $1 ORDER BY expiry LIMIT $2 FOR UPDATE SKIP LOCKED
),
ending AS (
    SELECT due.id,
           count(*) FILTER (WHERE g.generation IS NOT NULL AND NOT g.faulted AND NOT g.fake) AS finished,
           count(*) FILTER (WHERE g.generation IS NULL AND NOT g.faulted AND NOT g.fake) AS running,
           coalesce(array_agg(g.id) FILTER (WHERE g.streamed AND g.generation IS NULL AND NOT g.faulted), '{}') AS streaming
    FROM due LEFT JOIN dispatch.processing_gens g ON g.wp_id = due.id GROUP BY due.id
),
gone AS (
    DELETE FROM dispatch.waiting_prompts r USING due WHERE r.id = due.id
    RETURNING r.id, r.is_chat, r.active, r.faulted, r.cancelled, r.n, r.jobs, r.image_keys, r.chat_messages_offloaded,
              r.chat_fault_reason, r.chat_fault_rc
),
queued AS (
    -- objects of a request that was never let in may still be on their way: they are deleted again for a minute
    INSERT INTO dispatch.object_deletions (object_key, due)
    SELECT unnest(image_keys || CASE WHEN chat_messages_offloaded THEN ARRAY[id || '_chat_messages.json'] ELSE '{}' END),
           CASE WHEN NOT active THEN now() + interval '1 minute' END
    FROM gone
    ON CONFLICT DO NOTHING
),
forgotten AS (
    SELECT admission.forget_requests_v1(coalesce(array_agg(id), '{}')) FROM gone
)
SELECT gone.id, gone.is_chat, ending.finished, ending.streaming, gone.chat_fault_reason, gone.chat_fault_rc,
       gone.active AND NOT gone.faulted
           AND NOT (gone.n = 0 AND ending.running = 0 AND (ending.finished >= gone.jobs OR gone.cancelled)) AS unanswered
FROM gone JOIN ending ON ending.id = gone.id, forgotten
