-- tell_address_standings: who remembers the standing of addresses asks anew.
-- $1 channel text
SELECT pg_notify($1, '')
