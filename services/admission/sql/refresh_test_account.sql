-- refresh_test_account: a test's account gets a new name and key.
-- $1 account integer
-- $2 username varchar
-- $3 key_hash varchar
UPDATE admission.users SET username = $2, api_key = $3 WHERE id = $1;
