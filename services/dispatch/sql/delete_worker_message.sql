-- delete_worker_message: nobody is told this any more.
-- $1 message uuid
DELETE FROM dispatch.worker_messages WHERE id = $1
