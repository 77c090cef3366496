-- create_test_account: an account of a test, without kudos; null when somebody else has just made it.
-- $1 username varchar
-- $2 oauth_id varchar
-- $3 key_hash varchar
INSERT INTO admission.users (username, oauth_id, api_key, client_id) VALUES ($1, $2, $3, 'test_' || gen_random_uuid())
ON CONFLICT (oauth_id) DO NOTHING RETURNING id;
