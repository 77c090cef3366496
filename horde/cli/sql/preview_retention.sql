-- preview_retention: what the next pass of retention with these windows would change, by step. Changes nothing.
-- reads only
-- $1 text_days int
-- $2 ipaddr_days int
-- $3 ceiling_days int
-- $4 worker_suspicion_days int
-- $5 access_log_days int
SELECT step, due_now, due_in_7_days, due_in_30_days, held_by_note, held_by_account_status, waiting_on_store
FROM moderation.preview_retention_v1($1, $2, $3, $4, $5)
