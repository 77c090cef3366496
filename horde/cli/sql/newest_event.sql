-- newest_event: the highest id of all events; null without any.
SELECT max(id) FROM moderation.moderation_events
