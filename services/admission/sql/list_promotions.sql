-- list_promotions: accounts that meet every criterion of promotion (base-domain 2.6) but suspicion, on one side of its threshold.
-- Roles and workers are read for the rows of the page alone. Index: ix_users_evaluating_kudos_rank.
-- reads only
-- $1 threshold bigint, hundredths; escrow has to exceed it
-- $2 is_blocked boolean: by its suspicions
-- $3 rows integer
-- $4 online interval, how long a worker counts as online
-- $5 suspicions bigint, from which an account is blocked
WITH page AS (
    SELECT u.id, u.username, u.created, u.last_active, u.kudos, u.evaluating_kudos, u.contact, u.admin_comment
    FROM admission.users u
    WHERE u.evaluating_kudos > 0 AND u.evaluating_kudos > $1 AND u.oauth_id <> 'anon' AND u.created <= now() - interval '7 days'
      AND NOT EXISTS (SELECT FROM admission.user_roles r WHERE r.user_id = u.id AND r.user_role = 1)
      AND ((SELECT count(*) FROM admission.user_suspicions s WHERE s.user_id = u.id) >= $5) = $2
    ORDER BY u.evaluating_kudos DESC, u.id LIMIT $3
)
SELECT page.id, page.username || '#' || page.id AS alias, page.created, page.last_active, page.kudos, page.evaluating_kudos,
       page.contact, page.admin_comment, extract(epoch FROM now() - page.created)::bigint AS age_seconds,
       ARRAY(SELECT r.user_role FROM admission.user_roles r WHERE r.user_id = page.id) AS roles,
       s.reasons, s.counts, coalesce(w.workers, 0) AS workers, coalesce(w.online, 0) AS online, coalesce(w.paused, 0) AS paused,
       coalesce(w.kudos, 0) AS worker_kudos, coalesce(w.contributions, 0) AS contributions, coalesce(w.fulfilments, 0) AS fulfilments
FROM page
LEFT JOIN dispatch.account_workers_v1(ARRAY(SELECT id FROM page), $4) w ON w.user_id = page.id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(r.suspicion_id ORDER BY r.suspicion_id), '{}') AS reasons,
           coalesce(array_agg(r.n ORDER BY r.suspicion_id), '{}') AS counts
    FROM (SELECT suspicion_id, count(*)::integer AS n FROM admission.user_suspicions WHERE user_id = page.id GROUP BY suspicion_id) r
) s
ORDER BY page.evaluating_kudos DESC, page.id;
