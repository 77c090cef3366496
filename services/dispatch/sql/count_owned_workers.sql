-- count_owned_workers: how many workers an account has, and how many of them at one address.
-- Two registrations of one account go one after the other: the lock lasts until the transaction ends, so a limit is exact.
-- $1 owner integer
-- $2 address text
SELECT count(w.id)::integer AS total, (count(w.id) FILTER (WHERE w.ipaddr = $2))::integer AS same_address
FROM (SELECT pg_advisory_xact_lock(hashtext('dispatch.workers'), $1)) AS one_at_a_time
LEFT JOIN dispatch.workers w ON w.user_id = $1
