-- insert_event: the evidence of one rejection, its texts waiting to be uploaded. A repeat is a second event.
-- $1 user_id int
-- $2 ipaddr text, the subject of the address
-- $3 ip_subject_key text, its pseudonym
-- $4 origin_text text, what there was in place of an address
-- $5 models jsonb, the names asked for
-- $6 reason text
-- $7 submitted_prompt text
-- $8 moderation_prompt text
-- $9 text_sha256 text
-- $10 text_chars int
-- $11 text_truncated boolean
INSERT INTO moderation.moderation_events
    (user_id, ipaddr, ip_subject_key, origin_text, models, reason, outcome,
     submitted_prompt, moderation_prompt, text_state, text_sha256, text_chars, text_truncated)
VALUES ($1, $2, $3, $4, $5::jsonb, $6, 'rejected', $7, $8, 'pending', $9, $10, $11)
RETURNING id
