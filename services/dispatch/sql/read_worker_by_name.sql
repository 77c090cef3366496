-- read_worker_by_name: one worker, online or not. Index: workers' name.
-- $1 name text
SELECT * FROM dispatch.worker_details WHERE name = $1
