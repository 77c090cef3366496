-- The events from before there was a list of those that nobody has marked. In a transaction of its own: nothing is locked that others write to.
INSERT INTO moderation.unmarked_events (event_id, reason)
SELECT e.id, e.reason FROM moderation.moderation_events e
WHERE NOT EXISTS (SELECT FROM moderation.moderation_event_marks m WHERE m.event_id = e.id)
ON CONFLICT (event_id) DO NOTHING;
