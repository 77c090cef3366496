-- has_event: whether there is such an event.
-- $1 event_id bigint
SELECT EXISTS (SELECT FROM moderation.moderation_events WHERE id = $1);
