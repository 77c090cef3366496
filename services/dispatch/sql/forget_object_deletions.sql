-- forget_object_deletions: these objects are deleted. Those that a late put may still bring back stay, to be deleted once more.
-- $1 keys text[]
DELETE FROM dispatch.object_deletions WHERE object_key = ANY ($1) AND (due IS NULL OR due <= now())
