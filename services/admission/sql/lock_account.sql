-- lock_account: an account that is about to be changed; no row without it.
-- $1 account integer
SELECT id, last_active FROM admission.users WHERE id = $1 AND oauth_id NOT LIKE '<wiped>%' FOR NO KEY UPDATE;
