-- transfer: move kudos from one account to another; false for a repeat.
-- $1 source integer
-- $2 target integer
-- $3 sharedkey uuid
-- $4 amount bigint, hundredths
-- $5 called text, what the target was called
-- $6 retry_key text
SELECT admission.transfer_v1($1, $2, $3, $4, $5, $6);
