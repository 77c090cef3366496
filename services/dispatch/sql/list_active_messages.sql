-- list_active_messages: the newest messages that hold now, for whichever workers. Index: ix_worker_messages_expiry.
-- $1 now timestamptz
-- $2 amount integer
SELECT id, worker_id, user_id, message, origin, expiry FROM dispatch.worker_messages
WHERE expiry > $1 ORDER BY created DESC, id LIMIT $2
