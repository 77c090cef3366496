-- suspect_worker: one more reason to suspect the worker of a generation; see dispatch.suspect_worker_v1.
-- $1 generation uuid
-- $2 suspicion int
-- $3 detail text
-- $4 now timestamptz
SELECT dispatch.suspect_worker_v1(g.worker_id, $2, $3, $4) FROM dispatch.processing_gens g WHERE g.id = $1
