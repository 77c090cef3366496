-- take_object_deletions: objects whose row is gone and that nobody has tried to delete lately, the longest untried first; they count
-- as tried from now on, so that two replicas share the work and what the store keeps does not hold up the rest.
-- Index: ix_object_deletions_tried.
-- $1 amount int
-- $2 pause interval since the last attempt
UPDATE dispatch.object_deletions SET tried = now()
WHERE object_key IN (
    SELECT object_key FROM dispatch.object_deletions WHERE tried IS NULL OR tried < now() - $2::interval
    ORDER BY tried NULLS FIRST LIMIT $1 FOR UPDATE SKIP LOCKED
)
RETURNING object_key
