-- add_monthly_kudos: more or less kudos each month, from now on; what the account's own grant is then, and whether it got none before.
-- Below 0 and above what an integer holds there is nothing.
-- $1 account integer
-- $2 amount integer, whole kudos
UPDATE admission.users u SET monthly_kudos = least(greatest(u.monthly_kudos::bigint + $2, 0), 2147483647) WHERE u.id = $1
RETURNING u.monthly_kudos, u.monthly_kudos_last_received IS NULL AS is_first;
