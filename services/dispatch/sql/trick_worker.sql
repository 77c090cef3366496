-- trick_worker: hand a paused worker a fake job: generations that nobody reads, of a request that does not change.
-- No row: the worker had one of this request before, or the request ended.
-- $1 request uuid
-- $2 generations uuid[] ids for as many jobs as are wanted
-- $3 worker uuid
-- $4 model text
-- $5 now timestamptz
-- $6 job_ttl integer seconds
-- $7 lease_cap integer seconds
-- $8 trusted boolean
-- $9 assigned_max_context_length integer
-- $10 assigned_max_length integer
-- $11 image_transport text
-- $12 fetches_messages boolean
WITH tricked AS (
    INSERT INTO dispatch.wp_tricked_workers (wp_id, worker_id)
    SELECT r.id, $3 FROM dispatch.waiting_prompts r
    WHERE r.id = $1 AND r.active AND NOT r.faulted AND NOT r.cancelled AND r.n > 0 AND r.expiry > $5
    ON CONFLICT DO NOTHING
    RETURNING wp_id
), request AS (
    SELECT r.*, least(r.n, CASE WHEN r.disable_batching THEN 1 ELSE cardinality($2::uuid[]) END) AS taken
    FROM dispatch.waiting_prompts r JOIN tricked ON tricked.wp_id = r.id
), leased AS (
    INSERT INTO dispatch.processing_gens (
        id, wp_id, worker_id, model, created, start_time, job_ttl, lease_cap, lease_until, worker_trusted, fake, streamed,
        assigned_model, assigned_max_context_length, assigned_max_length, image_transport)
    SELECT g.id, r.id, $3, $4::text, $5, $5, $6, $7, $5::timestamptz + make_interval(secs => $6::integer), $8, true,
           r.is_chat AND coalesce(r.chat_extras @> '{"stream_progress": true}', false),
           CASE WHEN r.is_chat THEN $4::text END, CASE WHEN r.is_chat THEN $9::integer END, CASE WHEN r.is_chat THEN $10::integer END,
           CASE WHEN r.chat_messages_offloaded AND $12 THEN 'messages_url' WHEN r.has_images THEN $11::text END
    FROM request r CROSS JOIN unnest($2::uuid[]) WITH ORDINALITY AS g (id, place)
    WHERE g.place <= r.taken
)
SELECT r.id, r.taken, r.is_chat, coalesce(r.chat_extras @> '{"stream_progress": true}', false) AS streamed,
       false AS over_capacity, r.created, r.user_id, r.sharedkey_id IS NOT NULL AS from_shared_key, r.max_length,
       r.max_context_length, CASE WHEN r.is_chat THEN '' ELSE r.prompt END AS prompt, r.params,
       r.chat_messages_offloaded AND $12 AS by_link, CASE WHEN NOT (r.chat_messages_offloaded AND $12) THEN r.messages END AS messages,
       r.chat_extras, r.image_keys, r.softprompt
FROM request r
