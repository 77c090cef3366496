-- Objects whose row is gone, so that none is forgotten while its store is away, or while it may still be on its way there.

-- due: before then its put may still arrive, so it is deleted and deleted again; null: at once. tried: the last attempt.
ALTER TABLE dispatch.object_deletions ADD COLUMN due timestamptz, ADD COLUMN tried timestamptz;
CREATE INDEX ix_object_deletions_tried ON dispatch.object_deletions (tried NULLS FIRST);
