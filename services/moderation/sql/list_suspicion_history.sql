-- list_suspicion_history: one page of the history of worker suspicions, newest first; every filter may be null.
-- $1 before_id bigint, exclusive
-- $2 worker_id uuid
-- $3 user_id integer
-- $4 rows integer
SELECT id, created, worker_id, worker_name, user_id, suspicion_id, detail FROM moderation.worker_suspicion_events
WHERE ($1::bigint IS NULL OR id < $1) AND ($2::uuid IS NULL OR worker_id = $2) AND ($3::integer IS NULL OR user_id = $3)
ORDER BY id DESC LIMIT $4;
