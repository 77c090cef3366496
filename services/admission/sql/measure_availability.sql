-- measure_availability: which online workers could take the request, and what the others lack.
-- reads only
-- $1 row jsonb, the columns that workers are matched on
-- $2 online interval
-- $3 unmeasured float8, tokens per second of a worker without a measured speed
-- $4 capacity_seconds float8, seconds a chat job may generate inside its lease
SELECT eligible_workers, eligible_threads, tokens_per_second, worker_ids, gap, missing, exceeded
FROM dispatch.measure_availability_v2($1, $2, $3, $4);
