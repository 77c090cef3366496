-- fill_review_unmarked: lists the events that nobody has marked, as triggers do that are off while `horde bench moderation` fills its tables.
INSERT INTO moderation.unmarked_events (event_id, reason)
SELECT e.id, e.reason FROM moderation.moderation_events e
WHERE NOT EXISTS (SELECT FROM moderation.moderation_event_marks m WHERE m.event_id = e.id)
ON CONFLICT (event_id) DO NOTHING
