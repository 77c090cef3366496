-- delete_worker: remove a worker that no stored job references, with its totals and samples.
-- $1 worker uuid
DELETE FROM dispatch.workers WHERE id = $1
