-- redact_texts: no text is left in these events; what is set comes from the fate map (rules/fates.py).
-- $1 days int, the window
-- $2 ids bigint[]
UPDATE moderation.moderation_events e
SET /* fates */ text_redacted = true
WHERE e.id = ANY ($2) AND NOT e.text_redacted AND e.created <= now() - make_interval(hours => 24 * $1)
  AND CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = e.id) THEN false ELSE true END
  AND (e.user_id IS NULL OR e.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r))
RETURNING e.id
