-- observe_tables: how many rows the planner believes moderation's tables have. Counts nothing.
SELECT c.relname::text AS name, greatest(c.reltuples, 0)::bigint AS rows
FROM pg_catalog.pg_class c
WHERE c.relnamespace = 'moderation'::regnamespace AND c.relkind = 'r'
