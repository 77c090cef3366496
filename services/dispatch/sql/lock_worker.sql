-- lock_worker: keep a worker from getting jobs until the commit. Index: the primary key.
-- $1 worker uuid
SELECT name FROM dispatch.workers WHERE id = $1 FOR UPDATE
