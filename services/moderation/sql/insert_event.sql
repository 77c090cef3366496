-- insert_event: the evidence of one rejection or report, its texts waiting to be uploaded. A repeated rejection is a second
-- event; of a job that has an event already nothing is written, and no row is given.
-- $1 user_id int
-- $2 ipaddr text, the subject of the address
-- $3 ip_subject_key text, its pseudonym
-- $4 origin_text text, what there was in place of an address
-- $5 models jsonb, the names asked for
-- $6 reason text
-- $7 outcome text
-- $8 submitted_prompt text
-- $9 moderation_prompt text
-- $10 effective_prompt text
-- $11 text_state text, pending or none
-- $12 text_sha256 text
-- $13 text_chars int
-- $14 text_truncated boolean
-- $15 proxied_account text
-- $16 request_id uuid
-- $17 job_id uuid
-- $18 worker_id uuid
-- $19 happened timestamptz, null: now
INSERT INTO moderation.moderation_events
    (user_id, ipaddr, ip_subject_key, origin_text, models, reason, outcome, submitted_prompt, moderation_prompt,
     effective_prompt, text_state, text_sha256, text_chars, text_truncated, proxied_account, request_id, job_id, worker_id,
     created)
VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        least($19::timestamptz, now()))
ON CONFLICT (job_id) DO NOTHING
RETURNING id
