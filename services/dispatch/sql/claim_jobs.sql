-- claim_jobs: take up to so many waiting jobs of the first of these requests that is free, and lease them to one worker, in one commit.
-- No row: others took the last ones, or hold the rows at this moment. A row that somebody holds is passed over, so that workers who
-- want the same request never wait for each other; the row that is taken is locked first, so that its count is the newest.
-- Index: the primary key.
-- $1 requests uuid[] best first
-- $2 generations uuid[] ids for as many jobs as are wanted
-- $3 worker uuid
-- $4 models text[] the model each request would be served with
-- $5 now timestamptz
-- $6 job_ttl integer seconds
-- $7 lease_cap integer seconds
-- $8 trusted boolean
-- $9 capacity float8 tokens the worker can make inside the base lease
-- $10 assigned_max_context_length integer
-- $11 assigned_max_length integer
-- $12 image_transport text
-- $13 expiry timestamptz the request lives until then at least
-- $14 fetches_messages boolean
WITH free AS (
    SELECT r.id, wanted.model, least(r.n, CASE WHEN r.disable_batching THEN 1 ELSE cardinality($2::uuid[]) END) AS taken
    FROM unnest($1::uuid[], $4::text[]) WITH ORDINALITY AS wanted (id, model, place)
    JOIN dispatch.waiting_prompts r ON r.id = wanted.id
    -- in one piece: planned on an empty queue, the pieces would have it read by when it expires
    WHERE CASE WHEN r.active AND NOT r.faulted AND NOT r.cancelled AND r.n > 0 THEN r.expiry > $5 END
    ORDER BY wanted.place LIMIT 1
    FOR NO KEY UPDATE OF r SKIP LOCKED
), request AS (
    UPDATE dispatch.waiting_prompts r SET n = r.n - free.taken, expiry = greatest(r.expiry, $13)
    FROM free WHERE r.id = free.id
    RETURNING r.*, free.taken, free.model
), emptied AS (
    UPDATE dispatch.wp_models m SET waiting = false FROM request r WHERE r.n = 0 AND m.wp_id = r.id
), leased AS (
    INSERT INTO dispatch.processing_gens (
        id, wp_id, worker_id, model, created, start_time, job_ttl, lease_cap, lease_until, worker_trusted, streamed,
        over_capacity_at_assignment, assigned_model, assigned_max_context_length, assigned_max_length, image_transport)
    SELECT g.id, r.id, $3, r.model, $5, $5, $6, $7, $5::timestamptz + make_interval(secs => $6::integer), $8,
           r.is_chat AND coalesce(r.chat_extras @> '{"stream_progress": true}', false), NOT r.is_chat AND r.max_length > $9,
           CASE WHEN r.is_chat THEN r.model END, CASE WHEN r.is_chat THEN $10::integer END, CASE WHEN r.is_chat THEN $11::integer END,
           CASE WHEN r.chat_messages_offloaded AND $14 THEN 'messages_url' WHEN r.has_images THEN $12::text END
    FROM request r CROSS JOIN unnest($2::uuid[]) WITH ORDINALITY AS g (id, place)
    WHERE g.place <= r.taken
)
SELECT r.id, r.taken, r.model, r.is_chat, coalesce(r.chat_extras @> '{"stream_progress": true}', false) AS streamed,
       NOT r.is_chat AND r.max_length > $9 AS over_capacity, r.created, r.user_id, r.sharedkey_id IS NOT NULL AS from_shared_key,
       r.max_length, r.max_context_length, CASE WHEN r.is_chat THEN '' ELSE r.prompt END AS prompt, r.params,
       r.chat_messages_offloaded AND $14 AS by_link, CASE WHEN NOT (r.chat_messages_offloaded AND $14) THEN r.messages END AS messages,
       r.chat_extras, r.image_keys, r.softprompt
FROM request r
