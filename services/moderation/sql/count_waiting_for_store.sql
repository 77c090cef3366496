-- count_waiting_for_store: the events whose text is due and lies in the evidence store, and that nothing holds.
-- $1 text_days int
-- $2 ceiling_days int
SELECT count(*)
FROM moderation.moderation_events e
WHERE NOT e.text_redacted AND e.text_state = 'stored'
  AND e.created <= now() - make_interval(hours => 24 * least($1::integer, $2::integer))
  AND CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = e.id) THEN false ELSE true END
  AND (e.user_id IS NULL OR e.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r))
