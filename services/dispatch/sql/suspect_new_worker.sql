-- suspect_new_worker: a reason to suspect a worker by what it said at a pop; see dispatch.suspect_worker_v1.
-- $1 worker uuid
-- $2 suspicion int
-- $3 detail text
-- $4 now timestamptz
SELECT dispatch.suspect_worker_v1($1, $2, $3, $4)
