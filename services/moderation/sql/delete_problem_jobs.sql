-- delete_problem_jobs: remove these rows of user_problem_jobs, if they are still due.
-- $1 days int, the window
-- $2 ids bigint[]
DELETE FROM moderation.user_problem_jobs t
WHERE t.id = ANY ($2) AND t.created <= now() - make_interval(hours => 24 * $1) AND t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r)
RETURNING t.id
