-- create_account: a new account; its id.
-- $1 username text
-- $2 key_hash text
-- $3 concurrency integer
-- $4 kudos bigint, hundredths
-- $5 roles smallint[]
SELECT admission.create_account_v1($1, $2, $3, $4, $5);
