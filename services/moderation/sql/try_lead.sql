-- try_lead: hold this name until the transaction ends, unless another replica holds it. The lock goes with the connection.
-- $1 name text
SELECT pg_catalog.pg_try_advisory_xact_lock(hashtext('moderation'), hashtext($1))
