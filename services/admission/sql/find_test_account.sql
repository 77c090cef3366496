-- find_test_account: the account of an outside identity, and whether it is a test's; no row without it.
-- $1 oauth_id varchar
SELECT id, kudos, client_id LIKE 'test_%' AS is_test FROM admission.users WHERE oauth_id = $1 FOR NO KEY UPDATE;
