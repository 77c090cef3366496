-- describe_accounts: all that is known of these accounts, in the order given; who may see what is decided by the code that reads it.
-- reads only
-- $1 ids integer[]
-- $2 online interval, how long a worker counts as online
SELECT u.id, u.username || '#' || u.id AS alias, u.kudos, u.evaluating_kudos, admission.monthly_amount_v1(u.id) AS monthly_kudos, u.monthly_kudos_last_received,
       u.concurrency, u.worker_invited, u.public_workers, u.created, u.last_active, u.contact, u.admin_comment, u.proxy_passkey,
       u.oauth_id = 'anon' AS anonymous,
       u.oauth_id ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' AS pseudonymous,
       ARRAY(SELECT r.user_role FROM admission.user_roles r WHERE r.user_id = u.id) AS roles,
       ARRAY(SELECT k.id FROM admission.user_sharedkeys k WHERE k.user_id = u.id ORDER BY k.created, k.id) AS sharedkeys,
       (SELECT coalesce(jsonb_object_agg(s.action, s.value), '{}') FROM admission.user_stats s WHERE s.user_id = u.id) AS stats,
       (SELECT coalesce(jsonb_object_agg(r.record_type || '.' || r.record, r.value), '{}') FROM admission.user_records r WHERE r.user_id = u.id)
           AS records,
       (SELECT count(*) FROM admission.user_suspicions s WHERE s.user_id = u.id) AS suspicion_count,
       coalesce(w.workers, 0) AS workers, coalesce(w.ids, '{}') AS worker_ids
FROM unnest($1::integer[]) WITH ORDINALITY AS asked (id, place)
JOIN admission.users u ON u.id = asked.id
LEFT JOIN dispatch.account_workers_v1($1, $2) w ON w.user_id = u.id
ORDER BY asked.place;
