-- lock_migrations: whether this is the one migrator now; it is until its connection closes. Two pods may start together.
-- Never waits: an index that the other builds concurrently would wait for the statement that waits here.
-- $1 lock bigint
SELECT pg_try_advisory_lock($1)
