-- store_texts: these events' texts lie in the evidence store, unless retention cleared them or another replica was first.
-- $1 ids bigint[]
-- $2 digests text[], of the objects that were put
-- $3 characters int[]
UPDATE moderation.moderation_events e
SET submitted_prompt = NULL, moderation_prompt = NULL, effective_prompt = NULL, text_state = 'stored',
    text_sha256 = coalesce(e.text_sha256, put.digest), text_chars = coalesce(e.text_chars, put.characters)
FROM unnest($1::bigint[], $2::text[], $3::integer[]) AS put (id, digest, characters)
WHERE e.id = put.id AND e.text_state = 'pending'
RETURNING e.id
