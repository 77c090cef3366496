-- read_text_states: where the texts of these events are; an event that there is not has no row.
-- $1 ids bigint[]
SELECT id, text_state FROM moderation.moderation_events WHERE id = ANY ($1)
