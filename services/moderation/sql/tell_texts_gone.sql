-- tell_texts_gone: say of stored events that their text is gone, because their objects are: their accounts were restricted between
-- the delete and the change. What is set comes from the fate map (rules/fates.py).
-- $1 ids bigint[]
UPDATE moderation.moderation_events e
SET /* fates */ text_redacted = true
WHERE e.id = ANY ($1) AND e.text_state = 'stored'
RETURNING e.id
