-- list_object_deletions: objects whose row is gone, the oldest first.
-- $1 amount int
SELECT object_key FROM dispatch.object_deletions ORDER BY created LIMIT $1
