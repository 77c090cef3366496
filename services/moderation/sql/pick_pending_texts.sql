-- pick_pending_texts: the oldest events whose text waits to be moved to the evidence store, and which version of its row this is.
-- $1 amount int
-- $2 after bigint, the last event of the batch before
SELECT e.id, e.xmin::text AS version, e.submitted_prompt, e.moderation_prompt, e.effective_prompt
FROM moderation.moderation_events e
WHERE e.text_state = 'pending' AND e.id > $2
ORDER BY e.id
LIMIT $1
