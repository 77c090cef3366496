-- insert_suspicion: one line of the history of worker suspicions. A repeat of a report changes nothing.
-- $1 report_id uuid
-- $2 worker_id uuid
-- $3 worker_name text
-- $4 user_id int, the worker's owner
-- $5 suspicion_id int
-- $6 detail text
-- $7 happened timestamptz, null: now
INSERT INTO moderation.worker_suspicion_events (report_id, worker_id, worker_name, user_id, suspicion_id, detail, created)
VALUES ($1, $2, $3, $4, $5, $6, least($7::timestamptz, now()))
ON CONFLICT (report_id) DO NOTHING
RETURNING id
