-- moderation_preview_retention_v1: what the next pass with these windows would change, by step; NULL: no window, and no row of that step.
-- Called by moderation for the preview route and by `horde retention preview`. Changes nothing.
-- due_now and the days after count rows that nothing holds today; waiting_on_store: those due now whose object has to be deleted first.
CREATE FUNCTION moderation.preview_retention_v1(
    p_text_days integer, p_ipaddr_days integer, p_ceiling_days integer, p_suspicion_days integer, p_access_log_days integer)
RETURNS TABLE (step text, due_now bigint, due_in_7_days bigint, due_in_30_days bigint, held_by_note bigint,
               held_by_account_status bigint, waiting_on_store bigint)
LANGUAGE sql STABLE AS $$
    WITH soon AS (
        SELECT now() + interval '30 days' - make_interval(hours => 24 * p_text_days) AS text,
               now() + interval '30 days' - make_interval(hours => 24 * p_ipaddr_days) AS address,
               now() + interval '30 days' - make_interval(hours => 24 * p_ceiling_days) AS ceiling,
               now() + interval '30 days' - make_interval(hours => 24 * p_suspicion_days) AS suspicion,
               now() + interval '30 days' - make_interval(hours => 24 * p_access_log_days) AS access_log
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
        -- Each account's standing is looked up once, however many rows are its.
        SELECT c.place, c.user_id,
               c.event_id IS NOT NULL AND EXISTS (
                   SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = c.event_id) AS noted,
               count(*) FILTER (WHERE c.ahead <= interval '-30 days') AS due_now,
               count(*) FILTER (WHERE c.ahead <= interval '-23 days') AS due_in_7,
               count(*) AS due_in_30,
               count(*) FILTER (WHERE c.ahead <= interval '-30 days' AND c.stored) AS stored
        FROM candidates c GROUP BY 1, 2, 3
    ), judged AS (
        SELECT c.*, CASE WHEN c.noted THEN 'note'
                         WHEN c.user_id IS NOT NULL AND moderation.account_restricted_v1(c.user_id) THEN 'account_status' END AS hold
        FROM counted c
    )
    SELECT s.name, coalesce(sum(j.due_now) FILTER (WHERE j.hold IS NULL), 0)::bigint,
           coalesce(sum(j.due_in_7) FILTER (WHERE j.hold IS NULL), 0)::bigint,
           coalesce(sum(j.due_in_30) FILTER (WHERE j.hold IS NULL), 0)::bigint,
           coalesce(sum(j.due_now) FILTER (WHERE j.hold = 'note'), 0)::bigint,
           coalesce(sum(j.due_now) FILTER (WHERE j.hold = 'account_status'), 0)::bigint,
           coalesce(sum(j.stored) FILTER (WHERE j.hold IS NULL), 0)::bigint
    FROM (VALUES (1, 'anonymized', p_ceiling_days), (2, 'text_redacted', p_text_days), (3, 'ipaddr_redacted', p_ipaddr_days),
                 (4, 'problem_jobs_deleted', p_ceiling_days), (5, 'problem_job_ipaddr_redacted', p_ipaddr_days),
                 (6, 'worker_suspicion_deleted', p_suspicion_days), (7, 'access_log_deleted', p_access_log_days)
         ) s (place, name, days)
    LEFT JOIN judged j ON j.place = s.place
    WHERE s.days IS NOT NULL GROUP BY s.place, s.name ORDER BY s.place
$$;
REVOKE EXECUTE ON FUNCTION moderation.preview_retention_v1(integer, integer, integer, integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION moderation.preview_retention_v1(integer, integer, integer, integer, integer) TO horde_moderation;
