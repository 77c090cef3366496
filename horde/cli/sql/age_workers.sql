-- age_workers: makes workers as old as most are: a new one is written at every pop for half a minute. For `horde bench pop`.
-- $1 names text[]
UPDATE dispatch.workers SET created = created - interval '1 day' WHERE name = ANY ($1::text[])
