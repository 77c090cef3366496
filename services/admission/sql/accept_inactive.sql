-- accept_inactive: store a request that cannot be claimed yet, so that every image stored for it has a row.
-- $1 row jsonb
-- $2 prompt text
-- $3 submitted_prompt text
-- $4 messages jsonb
SELECT dispatch.accept_inactive_v1($1, $2, $3, $4);
