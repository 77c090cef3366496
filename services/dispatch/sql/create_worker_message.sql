-- create_worker_message: store a message. No row when its worker is gone.
-- $1 id uuid
-- $2 worker uuid null: all workers
-- $3 author integer
-- $4 message text
-- $5 origin text
-- $6 now timestamptz
-- $7 expiry timestamptz
INSERT INTO dispatch.worker_messages (id, worker_id, user_id, message, origin, created, expiry)
SELECT $1, $2::uuid, $3, $4, $5, $6, $7
WHERE $2::uuid IS NULL OR EXISTS (SELECT FROM dispatch.workers w WHERE w.id = $2 FOR KEY SHARE)
