-- read_worker_address: where a worker was at its last check-in.
-- $1 worker_id uuid
SELECT ipaddr FROM dispatch.worker_origins WHERE id = $1
