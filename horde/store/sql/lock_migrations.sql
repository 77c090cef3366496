-- lock_migrations: one migrator at a time; held until its connection closes. Two pods may start together.
-- $1 lock bigint
SELECT pg_advisory_lock($1)
