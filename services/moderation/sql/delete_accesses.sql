-- delete_accesses: remove these rows of moderation_access_log, if they are still due.
-- $1 days int, the window
-- $2 ids bigint[]
DELETE FROM moderation.moderation_access_log t
WHERE t.id = ANY ($2) AND t.created <= now() - make_interval(hours => 24 * $1)
RETURNING t.id
