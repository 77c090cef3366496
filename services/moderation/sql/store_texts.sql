-- store_texts: these events' texts lie in the evidence store, unless retention was at their rows or another replica was first.
-- $1 ids bigint[]
-- $2 versions text[], of the rows as they were read
-- $3 digests text[], of the objects that were put
-- $4 characters int[]
UPDATE moderation.moderation_events e
SET submitted_prompt = NULL, moderation_prompt = NULL, effective_prompt = NULL, text_state = 'stored',
    text_sha256 = coalesce(e.text_sha256, put.digest), text_chars = coalesce(e.text_chars, put.characters)
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::integer[]) AS put (id, version, digest, characters)
WHERE e.id = put.id AND e.xmin::text = put.version AND e.text_state = 'pending'
RETURNING e.id
