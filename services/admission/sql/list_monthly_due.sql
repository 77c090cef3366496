-- list_monthly_due: accounts whose month is due: whoever last got kudos more than a calendar month (UTC) ago, or should get some and never did.
-- reads only
-- $1 now timestamptz
-- $2 rows integer
SELECT id FROM admission.users
-- no month is shorter than 28 days: a range that the index can find
WHERE monthly_kudos_last_received < $1::timestamptz - interval '28 days'
  AND (monthly_kudos_last_received AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' < $1::timestamptz
UNION
SELECT id FROM admission.users WHERE monthly_kudos > 0 AND monthly_kudos_last_received IS NULL
UNION
SELECT u.id FROM admission.user_roles r JOIN admission.users u ON u.id = r.user_id
WHERE r.user_role = 0 AND u.monthly_kudos_last_received IS NULL
LIMIT $2;
