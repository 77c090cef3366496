-- read_account: how an account is called, and whether many people share it.
-- $1 account_id bigint
SELECT alias, anonymous FROM admission.account_standing WHERE id = $1
