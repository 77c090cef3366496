-- set_mark: what one moderator made of an event; a repeat changes nothing. Of an anonymized event no mark is kept; the lock waits for a
-- ceiling step that is under way, and then sees what it left.
-- $1 event_id bigint
-- $2 moderator_id integer
-- $3 mark varchar
INSERT INTO moderation.moderation_event_marks AS m (event_id, moderator_id, mark)
SELECT e.id, $2, $3 FROM moderation.moderation_events e WHERE e.id = $1 AND NOT e.anonymized FOR KEY SHARE OF e
ON CONFLICT (event_id, moderator_id) DO UPDATE SET mark = excluded.mark, created = now() WHERE m.mark <> excluded.mark;
