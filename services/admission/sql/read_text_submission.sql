-- read_text_submission: whose key this is, and what was submitted as this text request, by whom; always one row.
-- reads only
-- A UUID that is a shared key's id is that key; anything else is looked up as a personal key (base-domain 1.5).
-- $1 key_hash text
-- $2 sharedkey uuid, null when the key is no UUID
-- $3 request uuid, null when it is no UUID
WITH lent AS (SELECT id FROM admission.user_sharedkeys WHERE id = $2),
caller AS (
    SELECT u.id FROM admission.users u
    WHERE u.api_key = $1 AND u.oauth_id NOT LIKE '<wiped>%' AND NOT EXISTS (SELECT FROM lent)
)
SELECT lent.id AS sharedkey_id, caller.id AS account_id, a.anonymous,
       s.user_id AS submitter_id, s.sharedkey_id AS submitted_with, s.submission
FROM (VALUES (1)) AS one
LEFT JOIN lent ON true
LEFT JOIN caller ON true
LEFT JOIN admission.account_standing a ON a.id = caller.id
LEFT JOIN dispatch.text_submission_v1($3) s ON true;
