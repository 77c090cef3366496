-- upload_anew: makes new versions of pending rows, so that an upload that read an older one does not call its object stored: it is gone.
-- $1 ids bigint[]
UPDATE moderation.moderation_events e
SET text_state = e.text_state
WHERE e.id = ANY ($1) AND e.text_state = 'pending'
