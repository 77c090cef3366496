-- list_worker_messages: one page of the messages that an account may see, the newest first. Index: ix_worker_messages_created.
-- $1 seen_by integer null: every message; else those for this account's workers and for all, and those it wrote
-- $2 author integer null: any
-- $3 worker uuid null: any
-- $4 validity text active, expired or all
-- $5 now timestamptz
-- $6 page_size integer
-- $7 skipped bigint
SELECT m.id, m.worker_id, m.user_id, m.message, m.origin, m.expiry
FROM dispatch.worker_messages m
WHERE ($1::integer IS NULL OR m.worker_id IS NULL OR m.user_id = $1
       OR EXISTS (SELECT FROM dispatch.workers w WHERE w.id = m.worker_id AND w.user_id = $1))
  AND ($2::integer IS NULL OR m.user_id = $2)
  AND ($3::uuid IS NULL OR m.worker_id = $3)
  AND ($4::text = 'all' OR (m.expiry > $5) = ($4 = 'active'))
ORDER BY m.created DESC, m.id LIMIT $6 OFFSET $7
