-- pick_problem_job_addresses_due: lock the oldest problem jobs past the address window that still have one and that nothing holds.
-- $1 days int, the window
-- $2 amount int
SELECT t.id
FROM moderation.user_problem_jobs t
WHERE (t.ipaddr IS NOT NULL OR t.origin_text IS NOT NULL) AND t.created <= now() - make_interval(hours => 24 * $1) AND t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r)
ORDER BY t.created, t.id
LIMIT $2
FOR UPDATE OF t SKIP LOCKED
