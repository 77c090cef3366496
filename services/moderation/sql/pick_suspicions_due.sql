-- pick_suspicions_due: lock the oldest rows of worker_suspicion_events past their window that nothing holds.
-- $1 days int, the window
-- $2 amount int
SELECT t.id
FROM moderation.worker_suspicion_events t
WHERE t.created <= now() - make_interval(hours => 24 * $1) AND t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r)
ORDER BY t.created, t.id
LIMIT $2
FOR UPDATE OF t SKIP LOCKED
