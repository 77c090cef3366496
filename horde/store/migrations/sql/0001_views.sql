-- The views one owner offers another.

-- What dispatch and moderation may know of an account. `floor` is the least its balance may be, in hundredths (base-domain 2.3).
CREATE VIEW admission.account_standing AS
SELECT u.id,
       u.username,
       u.username || '#' || u.id AS alias,
       u.api_key,
       u.oauth_id = 'anon' AS anonymous,
       CASE WHEN u.oauth_id = 'anon' THEN -5000
            WHEN u.oauth_id ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' THEN 1400
            ELSE 2500 END AS floor,
       coalesce(1 = ANY (r.roles), false) AS trusted,
       coalesce(0 = ANY (r.roles), false) AS moderator,
       coalesce(3 = ANY (r.roles), false) AS flagged,
       coalesce(5 = ANY (r.roles), false) AS vpn,
       coalesce(7 = ANY (r.roles), false) AS service,
       coalesce(8 = ANY (r.roles), false) AS education,
       coalesce(9 = ANY (r.roles), false) AS deleted,
       (SELECT count(*) FROM admission.user_suspicions s WHERE s.user_id = u.id) AS suspicion_count,
       u.kudos,
       u.concurrency,
       u.worker_invited,
       u.public_workers
FROM admission.users u
LEFT JOIN LATERAL (SELECT array_agg(user_role) AS roles FROM admission.user_roles WHERE user_id = u.id) r ON true;

CREATE VIEW moderation.modes_now AS
SELECT maintenance, raid, invite_only FROM moderation.settings;

GRANT SELECT ON admission.account_standing TO horde_dispatch, horde_moderation, horde_admission;
GRANT SELECT ON moderation.modes_now TO horde_admission, horde_dispatch, horde_moderation;
