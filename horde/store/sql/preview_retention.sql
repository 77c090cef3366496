-- preview_retention: what the next pass of retention with these windows would change, by step; a step without a window has no row. Changes
-- nothing. Read by moderation for the preview route and by `horde retention preview`.
-- due_now and the days after count rows that nothing holds today; waiting_on_store: those due now whose object has to be deleted first.
-- reads only
-- $1 text_days int
-- $2 ipaddr_days int
-- $3 ceiling_days int
-- $4 worker_suspicion_days int
-- $5 access_log_days int
WITH soon AS (
    SELECT now() + interval '30 days' - make_interval(hours => 24 * $1::integer) AS text,
           now() + interval '30 days' - make_interval(hours => 24 * $2::integer) AS address,
           now() + interval '30 days' - make_interval(hours => 24 * $3::integer) AS ceiling,
           now() + interval '30 days' - make_interval(hours => 24 * $4::integer) AS suspicion,
           now() + interval '30 days' - make_interval(hours => 24 * $5::integer) AS access_log
), candidates AS (
    SELECT 1 AS place, e.id AS event_id, e.user_id, e.text_state = 'stored' AS stored, e.created - soon.ceiling AS ahead
    FROM soon, moderation.moderation_events e WHERE NOT e.anonymized AND e.created <= soon.ceiling
    UNION ALL
    SELECT 2, e.id, e.user_id, e.text_state = 'stored', e.created - soon.text
    FROM soon, moderation.moderation_events e WHERE NOT e.text_redacted AND e.created <= soon.text
    UNION ALL
    SELECT 3, e.id, e.user_id, false, e.created - soon.address
    FROM soon, moderation.moderation_events e WHERE NOT e.ipaddr_redacted AND e.created <= soon.address
    UNION ALL
    SELECT 4, NULL, j.user_id, false, j.created - soon.ceiling
    FROM soon, moderation.user_problem_jobs j WHERE j.created <= soon.ceiling
    UNION ALL
    SELECT 5, NULL, j.user_id, false, j.created - soon.address
    FROM soon, moderation.user_problem_jobs j
    WHERE (j.ipaddr IS NOT NULL OR j.origin_text IS NOT NULL) AND j.created <= soon.address
    UNION ALL
    SELECT 6, NULL, s.user_id, false, s.created - soon.suspicion
    FROM soon, moderation.worker_suspicion_events s WHERE s.created <= soon.suspicion
    UNION ALL
    SELECT 7, NULL, NULL, false, l.created - soon.access_log
    FROM soon, moderation.moderation_access_log l WHERE l.created <= soon.access_log
), counted AS (
    SELECT c.place, CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = c.event_id) THEN 'note'
                         WHEN r.user_id IS NOT NULL THEN 'account_status' END AS hold,
           count(*) FILTER (WHERE c.ahead <= interval '-30 days') AS due_now,
           count(*) FILTER (WHERE c.ahead <= interval '-23 days') AS due_in_7,
           count(*) AS due_in_30,
           count(*) FILTER (WHERE c.ahead <= interval '-30 days' AND c.stored) AS stored
    FROM candidates c LEFT JOIN admission.restricted_accounts r ON r.user_id = c.user_id GROUP BY 1, 2
)
SELECT s.name AS step, coalesce(sum(j.due_now) FILTER (WHERE j.hold IS NULL), 0)::bigint AS due_now,
       coalesce(sum(j.due_in_7) FILTER (WHERE j.hold IS NULL), 0)::bigint AS due_in_7_days,
       coalesce(sum(j.due_in_30) FILTER (WHERE j.hold IS NULL), 0)::bigint AS due_in_30_days,
       coalesce(sum(j.due_now) FILTER (WHERE j.hold = 'note'), 0)::bigint AS held_by_note,
       coalesce(sum(j.due_now) FILTER (WHERE j.hold = 'account_status'), 0)::bigint AS held_by_account_status,
       coalesce(sum(j.stored) FILTER (WHERE j.hold IS NULL), 0)::bigint AS waiting_on_store
FROM (VALUES (1, 'anonymized', $3), (2, 'text_redacted', $1), (3, 'ipaddr_redacted', $2),
             (4, 'problem_jobs_deleted', $3), (5, 'problem_job_ipaddr_redacted', $2),
             (6, 'worker_suspicion_deleted', $4), (7, 'access_log_deleted', $5)
     ) s (place, name, days)
LEFT JOIN counted j ON j.place = s.place
WHERE s.days IS NOT NULL GROUP BY s.place, s.name ORDER BY s.place
