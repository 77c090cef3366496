-- read_shape: the columns of moderation_events and the CHECKs that keep its promises, to be compared with the fate map.
-- $1 constraints text[], their names
SELECT ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a
             WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
       coalesce((SELECT jsonb_object_agg(c.conname, pg_catalog.pg_get_constraintdef(c.oid))
                 FROM pg_catalog.pg_constraint c WHERE c.conrelid = t.oid AND c.conname = ANY ($1::text[])), '{}') AS checks
FROM pg_catalog.pg_class t
WHERE t.oid = 'moderation.moderation_events'::regclass
