-- count_problem_jobs: the problem jobs of an account (of one end user of it, if it names them) and of an address, in the past hour and
-- day. Without an address those of addresses are none, because records without one cannot be told apart.
-- $1 user_id int
-- $2 proxied_account text
-- $3 ipaddr text
SELECT count(*) FILTER (WHERE is_account AND is_recent) AS account_hour,
       count(*) FILTER (WHERE is_account) AS account_day,
       count(*) FILTER (WHERE is_address AND is_recent) AS address_hour,
       count(*) FILTER (WHERE is_address) AS address_day
FROM (
    SELECT j.user_id = $1 AND j.proxied_account IS NOT DISTINCT FROM $2::text AS is_account,
           j.ipaddr = $3::text AS is_address,
           j.created > now() - interval '1 hour' AS is_recent
    FROM moderation.user_problem_jobs j
    WHERE j.created > now() - interval '24 hours' AND (j.user_id = $1 OR j.ipaddr = $3)) of_a_day
