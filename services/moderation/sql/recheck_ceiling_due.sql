-- recheck_ceiling_due: which of the locked events are still due on a fresh snapshot: a note may have been committed just before the lock.
-- $1 days int, the window
-- $2 ids bigint[]
SELECT e.id
FROM moderation.moderation_events e
WHERE e.id = ANY ($2) AND NOT e.anonymized AND e.created <= now() - make_interval(hours => 24 * $1)
  AND CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = e.id) THEN false ELSE true END
  AND (e.user_id IS NULL OR e.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r))
