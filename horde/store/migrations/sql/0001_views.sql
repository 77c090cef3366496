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
       u.public_workers,
       u.contact
FROM admission.users u
LEFT JOIN LATERAL (SELECT array_agg(user_role) AS roles FROM admission.user_roles WHERE user_id = u.id) r ON true;

-- A worker as the public routes tell of it (base-domain 4.13); who may see which column is decided by the code that reads it.
CREATE VIEW dispatch.worker_details AS
SELECT w.id, w.name, w.user_id, w.last_check_in, w.fulfilments, w.kudos, coalesce(s.generated, 0) AS generated_kudos,
       coalesce(s.uptime, 0) AS uptime_kudos, w.speed, w.threads, w.uptime, w.maintenance, w.info, w.nsfw, a.trusted, a.flagged,
       w.uncompleted_jobs, w.nonconformant_replies, w.models, w.bridge_agent, w.max_length, w.max_context_length,
       w.accepts_chat_jobs, w.accepts_prompt_jobs, w.chat_features, w.chat_max_context_length, w.chat_max_length, w.chat_model_id,
       w.chat_tools_max_temperature, w.image_transports, a.alias AS owner, a.public_workers, w.paused, w.ipaddr, a.contact,
       (SELECT count(*) FROM dispatch.worker_suspicions x WHERE x.worker_id = w.id) AS suspicions
FROM dispatch.workers w
JOIN admission.account_standing a ON a.id = w.user_id
LEFT JOIN LATERAL (
    SELECT sum(value) FILTER (WHERE action = 'generated')::bigint AS generated, sum(value) FILTER (WHERE action = 'uptime')::bigint AS uptime
    FROM dispatch.worker_stats WHERE worker_id = w.id) s ON true
WHERE w.worker_type = 'text_worker';

CREATE VIEW moderation.modes_now AS
SELECT maintenance, raid, invite_only FROM moderation.settings;

GRANT SELECT ON admission.account_standing TO horde_dispatch, horde_moderation, horde_admission;
GRANT SELECT ON moderation.modes_now TO horde_admission, horde_dispatch, horde_moderation;
