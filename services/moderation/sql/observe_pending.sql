-- observe_pending: what waits to be moved to the evidence store, and for how long the oldest does.
SELECT count(*) AS pending, coalesce(now() - min(e.created), interval '0') AS oldest
FROM moderation.moderation_events e
WHERE e.text_state = 'pending'
