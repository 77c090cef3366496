-- set_key: a new key for the account; the old one stops working.
-- $1 account integer
-- $2 key_hash text
UPDATE admission.users SET api_key = $2 WHERE id = $1;
