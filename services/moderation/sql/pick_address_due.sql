-- pick_address_due: lock the oldest events past the address window that nothing holds. FOR UPDATE and nothing weaker: a note's own foreign
-- key waits behind it, and an event that gets one right now is passed over.
-- What holds is written so that the index is read in its order and each of its rows is judged in a microsecond: held rows stay at its head.
-- $1 days int, the window
-- $2 amount int
SELECT e.id
FROM moderation.moderation_events e
WHERE NOT e.ipaddr_redacted AND e.created <= now() - make_interval(hours => 24 * $1)
  AND CASE WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = e.id) THEN false ELSE true END
  AND (e.user_id IS NULL OR e.user_id NOT IN (SELECT r.user_id FROM admission.restricted_accounts r))
ORDER BY e.created, e.id
LIMIT $2
FOR UPDATE OF e SKIP LOCKED
