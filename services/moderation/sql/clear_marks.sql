-- clear_marks: an event that nothing of a person is left in needs no marks.
-- $1 ids bigint[]
DELETE FROM moderation.moderation_event_marks WHERE event_id = ANY ($1)
