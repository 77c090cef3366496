-- redact_problem_job_addresses: no address is left in these problem jobs, if they are still due.
-- $1 days int, the window
-- $2 ids bigint[]
UPDATE moderation.user_problem_jobs t
SET ipaddr = NULL, origin_text = NULL
WHERE t.id = ANY ($2) AND (t.ipaddr IS NOT NULL OR t.origin_text IS NOT NULL) AND t.created <= now() - make_interval(hours => 24 * $1) AND t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r)
RETURNING t.id
