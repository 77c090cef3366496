-- has_jobs: whether a stored job references a worker. Index: ix_processing_gens_worker_id.
-- $1 worker uuid
SELECT EXISTS (SELECT FROM dispatch.processing_gens WHERE worker_id = $1)
