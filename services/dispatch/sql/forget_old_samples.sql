-- forget_old_samples: samples that nothing reads any more. Safe to run twice.
-- $1 newest integer samples of a worker that count
-- $2 since timestamptz older fulfilments and model performances go
WITH spare AS (
    SELECT p.id FROM (
        SELECT id, row_number() OVER (PARTITION BY worker_id ORDER BY created DESC) AS age FROM dispatch.worker_performances) p
    WHERE p.age > $1
), workers AS (
    DELETE FROM dispatch.worker_performances WHERE id IN (SELECT id FROM spare)
), models AS (
    DELETE FROM dispatch.model_performances WHERE created < $2
)
DELETE FROM dispatch.horde_fulfillments WHERE created < $2
