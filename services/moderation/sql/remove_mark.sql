-- remove_mark: one moderator takes a mark back; a repeat changes nothing.
-- $1 event_id bigint
-- $2 moderator_id integer
DELETE FROM moderation.moderation_event_marks WHERE event_id = $1 AND moderator_id = $2;
