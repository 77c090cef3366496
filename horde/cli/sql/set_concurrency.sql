-- set_concurrency: how many generations of the account may wait at once.
-- $1 account integer
-- $2 concurrency integer
UPDATE admission.users SET concurrency = $2 WHERE id = $1;
