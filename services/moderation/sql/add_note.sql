-- add_note: a moderator's note; no row without such an event.
-- $1 event_id bigint
-- $2 author_id integer
-- $3 note varchar
INSERT INTO moderation.moderation_event_notes (event_id, author_id, note)
SELECT e.id, $2, $3 FROM moderation.moderation_events e WHERE e.id = $1
RETURNING id, created;
