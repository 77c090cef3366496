-- wipe_account: nothing of a person is left in the account; its workers and shared keys go, its ledger stays. Its key is nobody's.
-- $1 account integer
WITH workers AS (SELECT dispatch.end_requests_v1($1, NULL), dispatch.remove_workers_v1($1)),
keys AS (DELETE FROM admission.user_sharedkeys WHERE user_id = $1)
UPDATE admission.users SET username = '<wiped>', oauth_id = '<wiped>' || id, contact = '<wiped>', admin_comment = NULL,
    proxy_passkey = NULL, public_workers = false, api_key = '<wiped>' || id, monthly_kudos = 0, monthly_kudos_last_received = NULL
FROM workers WHERE id = $1;
