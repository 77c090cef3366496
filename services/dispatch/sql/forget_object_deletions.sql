-- forget_object_deletions: these objects are deleted.
-- $1 keys text[]
DELETE FROM dispatch.object_deletions WHERE object_key = ANY ($1)
