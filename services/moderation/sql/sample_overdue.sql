-- sample_overdue: how far the oldest row that nothing holds is past the window of each step; no row for a step that is on time.
-- $1 text_days int
-- $2 ipaddr_days int
-- $3 ceiling_days int
-- $4 worker_suspicion_days int
-- $5 access_log_days int
(SELECT 'anonymized' AS step, now() - make_interval(hours => 24 * $3::integer) - t.created AS late FROM moderation.moderation_events t
 WHERE NOT t.anonymized
   AND t.created <= now() - make_interval(hours => 24 * $3)
   AND (t.user_id IS NULL OR t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r))
   AND CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = t.id) THEN false ELSE true END
 ORDER BY t.created, t.id LIMIT 1)
UNION ALL
(SELECT 'text_redacted' AS step, now() - make_interval(hours => 24 * $1::integer) - t.created AS late FROM moderation.moderation_events t
 WHERE NOT t.text_redacted
   AND t.created <= now() - make_interval(hours => 24 * $1)
   AND (t.user_id IS NULL OR t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r))
   AND CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = t.id) THEN false ELSE true END
 ORDER BY t.created, t.id LIMIT 1)
UNION ALL
(SELECT 'ipaddr_redacted' AS step, now() - make_interval(hours => 24 * $2::integer) - t.created AS late FROM moderation.moderation_events t
 WHERE NOT t.ipaddr_redacted
   AND t.created <= now() - make_interval(hours => 24 * $2)
   AND (t.user_id IS NULL OR t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r))
   AND CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = t.id) THEN false ELSE true END
 ORDER BY t.created, t.id LIMIT 1)
UNION ALL
(SELECT 'problem_jobs_deleted' AS step, now() - make_interval(hours => 24 * $3) - t.created AS late FROM moderation.user_problem_jobs t
 WHERE t.created <= now() - make_interval(hours => 24 * $3)
   AND t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r)
 ORDER BY t.created, t.id LIMIT 1)
UNION ALL
(SELECT 'problem_job_ipaddr_redacted' AS step, now() - make_interval(hours => 24 * $2) - t.created AS late FROM moderation.user_problem_jobs t
 WHERE (t.ipaddr IS NOT NULL OR t.origin_text IS NOT NULL)
   AND t.created <= now() - make_interval(hours => 24 * $2)
   AND t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r)
 ORDER BY t.created, t.id LIMIT 1)
UNION ALL
(SELECT 'worker_suspicion_deleted' AS step, now() - make_interval(hours => 24 * $4::integer) - t.created AS late FROM moderation.worker_suspicion_events t
 WHERE t.created <= now() - make_interval(hours => 24 * $4)
   AND t.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r)
 ORDER BY t.created, t.id LIMIT 1)
UNION ALL
(SELECT 'access_log_deleted' AS step, now() - make_interval(hours => 24 * $5::integer) - t.created AS late FROM moderation.moderation_access_log t
 WHERE t.created <= now() - make_interval(hours => 24 * $5)
 ORDER BY t.created, t.id LIMIT 1)
