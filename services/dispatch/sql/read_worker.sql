-- read_worker: one worker, online or not. Index: the primary key.
-- $1 worker uuid
SELECT * FROM dispatch.worker_details WHERE id = $1
