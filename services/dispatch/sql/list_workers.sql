-- list_workers: the workers that are online, by name. Index: ix_workers_last_check_in.
-- $1 online timestamptz the check-in that still counts
SELECT * FROM dispatch.worker_details WHERE last_check_in > $1 ORDER BY name
