-- read_worker_message: one message, expired or not. Index: the primary key.
-- $1 message uuid
SELECT id, worker_id, user_id, message, origin, expiry FROM dispatch.worker_messages WHERE id = $1
