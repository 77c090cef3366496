-- forget_worker_messages: messages that expired long ago. Safe to run twice. Index: ix_worker_messages_expiry.
-- $1 expired timestamptz
DELETE FROM dispatch.worker_messages WHERE expiry < $1
