-- activate: let the request in, in one commit of its own. One row; `claimed_request` is set when its operation key was taken.
-- $1 row jsonb
-- $2 prompt text
-- $3 submitted_prompt text
-- $4 messages jsonb
-- $5 hold bigint, hundredths
-- $6 tax bigint, hundredths
SELECT claimed_request, claimed_fingerprint, claimed_kudos, priority FROM admission.activate_v3($1, $2, $3, $4, $5, $6);
