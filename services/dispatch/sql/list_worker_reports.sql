-- list_worker_reports: what moderation has still to be told, the oldest first. Index: ix_worker_reports_created.
-- $1 amount int
SELECT id, kind, report, created FROM dispatch.worker_reports ORDER BY created, id LIMIT $1
