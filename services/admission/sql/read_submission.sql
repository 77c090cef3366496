-- read_submission: everything a submission is judged by, in one round trip; always one row.
-- reads only
-- $1 key_hash text
-- $2 sharedkey uuid, null when the key is no UUID
-- $3 operation_key uuid, null without one
-- $4 models text[]
-- $5 online interval, how long a worker counts as online
-- $6 workers uuid[], the workers the request names
SELECT maintenance, raid,
       account_id, alias, anonymous, trusted, moderator, service, education, flagged, deleted, kudos, concurrency, available,
       sharedkey_id, sharedkey_kudos, sharedkey_expiry, max_text_tokens,
       claimed_request, claimed_fingerprint, claimed_kudos,
       waiting, offered_models, offering_workers, offered_contexts, offered_lengths, missing_workers
FROM admission.read_submission_v1($1, $2, $3, $4, $5, $6);
