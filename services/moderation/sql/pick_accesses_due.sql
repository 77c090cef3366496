-- pick_accesses_due: lock the oldest rows of moderation_access_log past their window.
-- $1 days int, the window
-- $2 amount int
SELECT t.id
FROM moderation.moderation_access_log t
WHERE t.created <= now() - make_interval(hours => 24 * $1)
ORDER BY t.created, t.id
LIMIT $2
FOR UPDATE OF t SKIP LOCKED
