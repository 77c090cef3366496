-- refresh_worker_speeds: the speed of every worker that was measured lately: the mean of its newest samples. Safe to run twice.
-- $1 since timestamptz a worker with a sample after it is measured again
-- $2 newest integer samples that count
UPDATE dispatch.workers w SET speed = nullif(measured.speed, 0)
FROM (SELECT DISTINCT worker_id FROM dispatch.worker_performances WHERE created > $1) lately
CROSS JOIN LATERAL (
    SELECT avg(newest.performance) AS speed FROM (
        SELECT p.performance FROM dispatch.worker_performances p
        WHERE p.worker_id = lately.worker_id ORDER BY p.created DESC LIMIT $2) newest
) measured
WHERE w.id = lately.worker_id AND w.speed IS DISTINCT FROM nullif(measured.speed, 0)
