-- forget_worker_report: moderation has it.
-- $1 report uuid
DELETE FROM dispatch.worker_reports WHERE id = $1
