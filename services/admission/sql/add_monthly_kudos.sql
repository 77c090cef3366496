-- add_monthly_kudos: more or less kudos each month, from now on; what the account gets each month then, and whether it got none before.
-- $1 account integer
-- $2 amount integer, whole kudos
UPDATE admission.users u
SET monthly_kudos = greatest(u.monthly_kudos + $2, 0), monthly_kudos_last_received = coalesce(u.monthly_kudos_last_received, now())
FROM admission.users old WHERE u.id = $1 AND old.id = u.id
RETURNING u.monthly_kudos, old.monthly_kudos_last_received IS NULL AS is_first;
