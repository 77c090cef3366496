-- prove_retention: the values that outlived their windows and that nothing holds, by kind. Says again, in other words and without the
-- flags, functions and views that retention itself goes by, what the policy promises. Each account is looked up once.
-- $1 text_days int
-- $2 ipaddr_days int
-- $3 ceiling_days int
-- $4 worker_suspicion_days int
-- $5 access_log_days int
-- $6 grace interval, how late a pass may be
WITH days AS (
    SELECT now() - $6::interval - make_interval(hours => 24 * $1::integer) AS text, now() - $6 - make_interval(hours => 24 * $2::integer) AS address,
           now() - $6 - make_interval(hours => 24 * $3::integer) AS ceiling, now() - $6 - make_interval(hours => 24 * $4::integer) AS suspicion,
           now() - $6 - make_interval(hours => 24 * $5::integer) AS access
), late AS (
    SELECT e.user_id,
           count(*) FILTER (WHERE e.created <= greatest(d.text, d.ceiling) AND num_nonnulls(
               e.submitted_prompt, e.moderation_prompt, e.effective_prompt, e.text_sha256, e.text_chars) > 0) AS text,
           count(*) FILTER (WHERE e.created <= greatest(d.address, d.ceiling) AND num_nonnulls(e.ipaddr, e.origin_text) > 0) AS address,
           count(*) FILTER (WHERE e.created <= d.ceiling AND num_nonnulls(
               e.ip_subject_key, e.user_id, e.proxied_account, e.request_id, e.job_id) > 0) AS identity,
           0::bigint AS mark, 0::bigint AS problem_job, 0::bigint AS problem_job_address, 0::bigint AS worker_suspicion
    FROM days d, moderation.moderation_events e
    WHERE e.created <= greatest(d.text, d.address, d.ceiling)
      AND NOT EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = e.id)
    GROUP BY e.user_id
    UNION ALL
    SELECT e.user_id, 0, 0, 0, count(*), 0, 0, 0
    FROM days d, moderation.moderation_event_marks m JOIN moderation.moderation_events e ON e.id = m.event_id
    WHERE e.created <= d.ceiling AND NOT EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = e.id)
    GROUP BY e.user_id
    UNION ALL
    SELECT j.user_id, 0, 0, 0, 0, count(*) FILTER (WHERE j.created <= d.ceiling),
           count(*) FILTER (WHERE num_nonnulls(j.ipaddr, j.origin_text) > 0), 0
    FROM days d, moderation.user_problem_jobs j WHERE j.created <= greatest(d.address, d.ceiling) GROUP BY j.user_id
    UNION ALL
    SELECT s.user_id, 0, 0, 0, 0, 0, 0, count(*)
    FROM days d, moderation.worker_suspicion_events s WHERE s.created <= d.suspicion GROUP BY s.user_id
), broken AS (
    SELECT coalesce(sum(l.text), 0)::bigint AS text, coalesce(sum(l.address), 0)::bigint AS address,
           coalesce(sum(l.identity), 0)::bigint AS identity, coalesce(sum(l.mark), 0)::bigint AS mark,
           coalesce(sum(l.problem_job), 0)::bigint AS problem_job,
           coalesce(sum(l.problem_job_address), 0)::bigint AS problem_job_address,
           coalesce(sum(l.worker_suspicion), 0)::bigint AS worker_suspicion
    FROM late l
    WHERE l.text + l.address + l.identity + l.mark + l.problem_job + l.problem_job_address + l.worker_suspicion > 0
      AND NOT EXISTS (SELECT FROM admission.account_standing a WHERE a.id = l.user_id AND NOT a.anonymous
                      AND (a.flagged OR (a.suspicion_count >= 5 AND NOT a.trusted)))
)
SELECT kind.name AS kind, kind.violations
FROM broken b, days d, LATERAL (VALUES
    ('text', b.text), ('address', b.address), ('identity', b.identity), ('mark', b.mark), ('problem_job', b.problem_job),
    ('problem_job_address', b.problem_job_address), ('worker_suspicion', b.worker_suspicion),
    ('access_log', (SELECT count(*) FROM moderation.moderation_access_log l WHERE l.created <= d.access))
) kind (name, violations)
